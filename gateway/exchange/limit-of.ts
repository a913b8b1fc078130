// What the last refusal of the pipeline takes of the caller's limit, full or lowered, and what comes of the answer.
// Pure: the pipeline itself asks the limiter in between.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import type { Consumer } from '../policy/authentication/access.ts';
import type { EpochMs } from '../policy/contract.ts';
import { leaveFrom } from '../policy/lifecycle/exceptions.ts';
import type { Limit, LimitRules, Quota, Take } from '../policy/rate-limit/limit.ts';
import { loweredAt } from '../policy/rate-limit/lowering.ts';
import { retryAfterSeconds } from '../policy/rate-limit/retry-after.ts';
import { bucketKey } from '../policy/rate-limit/subject.ts';
import type { Refusal } from './directive.ts';
import type { ExchangeFacts } from './facts.ts';

/**
 * One unit of the limit in force. Lowered from the deprecation instant on, past the sunset too where the version is only
 * observed (RL-11), but for a consumer with leave from it. `consumer` is undefined where the access is public.
 */
export function takeOf(
  api: ApiPlan,
  { exceptions }: VersionRules,
  limits: LimitRules,
  consumer: Consumer | undefined,
  clientAddress: string,
  { now, phase }: ExchangeFacts,
): Take {
  const lowered = phase?.stage !== 'active' && leaveFrom('limits', exceptions, consumer, now) === undefined;
  const limit = lowered ? loweredAt(limits, now) : limits.active;
  const scope = lowered ? limits.scopes.deprecated : limits.scopes.active;
  const key = bucketKey({ api: api.name, scope, limit: limit.name, by: limits.by, consumer, clientAddress });
  return { key, limit, cost: 1 };
}

/** `wallClock`: the real time, for the instant from which an absent store may be back. */
export function limitRefusal(quota: Quota, limit: Limit, wallClock: () => EpochMs): Refusal | undefined {
  if (quota.kind === 'unavailable')
    return { reason: 'limits_unavailable', retryAfterSeconds: 1, restoredAt: wallClock() + 1000 };
  return quota.allowed
    ? undefined
    : { reason: 'rate_limited', retryAfterSeconds: retryAfterSeconds(quota), limit };
}
