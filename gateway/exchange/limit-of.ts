// What the last refusal of the pipeline takes of the caller's limits, full or lowered, and what comes of the answers.
// Pure: the pipeline itself asks the limiter in between.
import type { VersionRules } from '../plan/plan.ts';
import type { Consumer } from '../policy/authentication/access.ts';
import type { EpochMs } from '../policy/contract.ts';
import { leaveFrom } from '../policy/lifecycle/exceptions.ts';
import type { LimitRule, LimitRules, Part, Quota } from '../policy/rate-limit/limit.ts';
import { loweredAt } from '../policy/rate-limit/lowering.ts';
import { retryAfterSeconds } from '../policy/rate-limit/retry-after.ts';
import { bucketKey } from '../policy/rate-limit/subject.ts';
import type { Refusal } from './directive.ts';
import type { ExchangeFacts } from './facts.ts';

/**
 * What one request costs of each limit in force. Lowered from the deprecation instant on, past the sunset too where the
 * version is only observed (RL-11), but for a consumer with leave from it. `consumer` is undefined where the access is
 * public.
 */
export function partsOf(
  { exceptions }: VersionRules,
  { each, cost }: LimitRules,
  consumer: Consumer | undefined,
  clientAddress: string,
  { now, phase }: ExchangeFacts,
): readonly Part[] {
  const lowered = phase?.stage !== 'active' && leaveFrom('limits', exceptions, consumer, now) === undefined;
  const caller = { consumer, clientAddress };
  const partOf = (rule: LimitRule): Part => {
    const limit = lowered ? loweredAt(rule, now) : rule.active;
    const bucket = lowered ? rule.buckets.deprecated : rule.buckets.active;
    return { key: bucketKey(bucket, rule.by, caller), limit, cost, rule };
  };
  return each.map(partOf);
}

/**
 * A limit in shadow refuses nothing, whatever becomes of its store. `wallClock`: the real time, for the instant from which
 * an absent store may be back.
 */
export function limitRefusal(quotas: readonly Quota[], wallClock: () => EpochMs): Refusal | undefined {
  if (quotas.every(lets)) return undefined;
  const enforced = quotas.filter(({ rule }) => !rule.shadow);
  if (enforced.some(({ kind }) => kind === 'unavailable'))
    return { reason: 'limits_unavailable', retryAfterSeconds: 1, restoredAt: wallClock() + 1000 };
  const refused = enforced.filter((quota) => quota.kind !== 'unavailable').filter(({ allowed }) => !allowed);
  return {
    reason: 'rate_limited',
    retryAfterSeconds: Math.max(...refused.map(retryAfterSeconds)),
    violated: refused.map(({ limit, rule }) => ({ limit, by: rule.by })),
  };
}

function lets(quota: Quota): boolean {
  return quota.rule.shadow || (quota.kind !== 'unavailable' && quota.allowed);
}
