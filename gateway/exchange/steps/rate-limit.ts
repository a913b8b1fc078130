// Builds the limiter's input and reads its result, with full or lowered limits.
import type { VersionRules } from '../../plan/plan.ts';
import type { Consumer } from '../../policy/authentication/access.ts';
import { type EpochMs, retryLater } from '../../policy/contract.ts';
import { exceptionFrom } from '../../policy/lifecycle/exceptions.ts';
import { bucketKey, type LimitPart, type LimitRules, type Quota } from '../../policy/rate-limit/limit.ts';
import { loweredAt } from '../../policy/rate-limit/lowering.ts';
import { retryAfterSeconds } from '../../policy/rate-limit/quota-headers.ts';
import type { Refusal } from '../directive.ts';
import type { StepInput } from './admission.ts';
import type { JudgedRules } from './judged-rules.ts';

type LimitedRules = Pick<JudgedRules, 'consumer' | 'phase'> & {
  readonly version: Pick<VersionRules, 'exceptions' | 'limits'>;
};

const NO_PARTS: readonly LimitPart[] = [];

/**
 * The cost of one request for each limit in force. Limits are lowered from the deprecation on, after the
 * sunset also in `mode: observe` (RL-11), except for a consumer with an exception. `consumer` is undefined if
 * access is public.
 */
export function partsOf(
  { version: { exceptions, limits }, consumer, phase }: LimitedRules,
  clientAddress: string,
  now: EpochMs,
): readonly LimitPart[] {
  if (limits === undefined) return NO_PARTS;
  const { each, cost } = limits;
  const isSpared = exceptions.length > 0 && exceptionFrom('limits', exceptions, consumer, now) !== undefined;
  const lowered = phase.stage !== 'active' && !isSpared;
  const known = consumer && (lowered ? loweredParts : fullParts).getOrInsertComputed(limits, createParts);
  const before = consumer && known?.get(consumer);
  if (before !== undefined) return before;
  const caller = { consumer, clientAddress };
  const parts = each.map((rule) => {
    const limit = lowered ? loweredAt(rule, now) : rule.active;
    const bucket = lowered ? rule.buckets.deprecated : rule.buckets.active;
    return { key: bucketKey(bucket, rule.by, caller), limit, cost, rule };
  });
  const staySame = each.every(({ by, curve }) => by !== 'address' && (curve === undefined || !lowered));
  if (consumer !== undefined && staySame) known?.set(consumer, parts);
  return parts;
}

type PartsByConsumer = WeakMap<Consumer, readonly LimitPart[]>;

/** Caches the parts of each consumer. With cached key strings, the limiter need not hash them again. */
const fullParts = new WeakMap<LimitRules, PartsByConsumer>();
const loweredParts = new WeakMap<LimitRules, PartsByConsumer>();
const createParts = (): PartsByConsumer => new WeakMap();

/**
 * The parts of the first rules (`own`) and of all rules. A shared bucket is charged once, at the highest
 * cost.
 */
export function partsOfAll(
  judged: readonly [JudgedRules, ...JudgedRules[]],
  { view, start }: StepInput,
): { readonly own: readonly LimitPart[]; readonly all: readonly LimitPart[] } {
  const own = partsOf(judged[0], view.clientAddress, start.now);
  if (judged.length === 1) return { own, all: own };
  const all = [...own];
  for (const part of judged.slice(1).flatMap((each) => partsOf(each, view.clientAddress, start.now))) {
    const shared = all.findIndex(({ key }) => key === part.key);
    if (shared < 0) all.push(part);
    else all[shared] = stricter(all[shared] ?? part, part);
  }
  return { own, all };
}

/** A response shows the limits of the rules that the path names, the first `own` of `parts`. */
export function shownQuotas(
  quotas: readonly Quota[],
  parts: readonly LimitPart[],
  own: number,
): readonly Quota[] | undefined {
  if (own === parts.length) return quotas;
  // The limiter evaluates shadow limits last.
  const rules = new Set(parts.slice(0, own).map(({ rule }) => rule));
  const shown = quotas.filter(({ rule }) => rules.has(rule));
  return shown.length === 0 ? undefined : shown;
}

/** Combines two parts of one bucket: the higher cost, and enforced if either part is enforced. */
function stricter(one: LimitPart, other: LimitPart): LimitPart {
  const enforced = one.rule.shadow ? other : one;
  return { ...enforced, cost: Math.max(one.cost, other.cost) };
}

/** A shadow limit refuses nothing, even if its store is unavailable. `wallClock`: the real time. */
export function limitRefusal(quotas: readonly Quota[], wallClock: () => EpochMs): Refusal | undefined {
  if (quotas.every(allows)) return undefined;
  const enforced = quotas.filter(({ rule }) => !rule.shadow);
  if (enforced.some(({ kind }) => kind === 'unavailable'))
    return retryLater('limits_unavailable', 1, wallClock());
  const refused = enforced.filter((quota) => quota.kind !== 'unavailable').filter(({ allowed }) => !allowed);
  return {
    reason: 'rate_limited',
    retryAfterSeconds: Math.max(...refused.map(retryAfterSeconds)),
    violated: refused.map(({ limit, rule }) => ({ limit, by: rule.by })),
  };
}

function allows(quota: Quota): boolean {
  return quota.rule.shadow || (quota.kind !== 'unavailable' && quota.allowed);
}
