// The last refusal of the pipeline: one unit of the caller's limit, full or lowered.
// Between the rules of the version and the limiter that the composition root gives.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import type { Consumer } from '../policy/authentication/access.ts';
import { leaveFrom } from '../policy/lifecycle/exceptions.ts';
import type { Limit, LimitRules, Quota } from '../policy/rate-limit/limit.ts';
import { loweredAt } from '../policy/rate-limit/lowering.ts';
import { retryAfterSeconds } from '../policy/rate-limit/retry-after.ts';
import { bucketKey } from '../policy/rate-limit/subject.ts';
import type { Refusal } from './directive.ts';
import type { ExchangeFacts } from './facts.ts';
import type { ExchangePorts } from './ports.ts';

export interface LimitedCaller {
  /** Undefined where the access is public; such callers are told apart by address. */
  readonly consumer: Consumer | undefined;
  readonly clientAddress: string;
}

/**
 * Takes one unit and notes in `facts` what is left; the refusal where none was. Lowered from the deprecation instant on,
 * past the sunset too where the version is only observed (RL-11), but for a consumer with leave from it.
 */
export async function takeLimit(
  api: ApiPlan,
  { limits, exceptions }: Pick<VersionRules, 'exceptions'> & { readonly limits: LimitRules },
  { consumer, clientAddress }: LimitedCaller,
  facts: ExchangeFacts,
  ports: Pick<ExchangePorts, 'limiter' | 'wallClock'>,
): Promise<Refusal | undefined> {
  const { now, phase } = facts;
  const lowered = phase?.stage !== 'active' && leaveFrom('limits', exceptions, consumer, now) === undefined;
  const limit = lowered ? loweredAt(limits, now) : limits.active;
  const scope = lowered ? limits.scopes.deprecated : limits.scopes.active;
  const key = bucketKey({ api: api.name, scope, limit: limit.name, by: limits.by, consumer, clientAddress });
  const taking = ports.limiter.take({ key, limit, cost: 1 }, limits);
  // A lease answers at once.
  const quota = taking instanceof Promise ? await taking : taking;
  facts.quota = quota;
  return refusalOf(quota, limit, ports);
}

function refusalOf(
  quota: Quota,
  limit: Limit,
  { wallClock }: Pick<ExchangePorts, 'wallClock'>,
): Refusal | undefined {
  if (quota.kind === 'unavailable')
    return { reason: 'limits_unavailable', retryAfterSeconds: 1, restoredAt: wallClock() + 1000 };
  return quota.allowed
    ? undefined
    : { reason: 'rate_limited', retryAfterSeconds: retryAfterSeconds(quota), limit };
}
