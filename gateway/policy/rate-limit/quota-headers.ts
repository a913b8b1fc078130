// The quotas of an answer as header lines: the specification's pair and the RateLimit draft's pair.
// Called when an answer is decorated, refused or not.
import type { HeaderLine } from '../contract.ts';
import type { Quota } from './limit.ts';

export interface QuotaLines {
  /** Singletons, in place of the upstream's own. */
  readonly replace: readonly HeaderLine[];
  /** Lists, after the members of the upstream (RL-5). */
  readonly append: readonly HeaderLine[];
}

type Counted = Extract<Quota, { kind: 'counted' }>;

const NO_LINES: QuotaLines = { replace: [], append: [] };

/**
 * RL-2, RL-3: the lines of counted quotas, refused or not. The pair speaks of the limit that the caller meets first, the
 * lists of all. What is left of a limit that everyone shares is told only where it is that one: it would tell what others
 * use (RL-7). Of a limit in shadow nothing is said; nor of any while the store is away, since it would be made up (RL-13).
 */
export function quotaLines(quotas: readonly Quota[]): QuotaLines {
  const [only] = quotas;
  // Most requests have one limit.
  if (only !== undefined && quotas.length === 1)
    return isShown(only)
      ? { replace: pairOf(only), append: [policyLine(only), stateLine(only, waitOf(only))] }
      : NO_LINES;
  const all = quotas.filter(isShown);
  if (all.length === 0) return NO_LINES;
  const nearest = all.reduce(nearer);
  const told = all.filter((each) => each === nearest || each.rule.by !== 'everyone');
  const states = told.map((each) => stateLine(each, waitOf(nearest)));
  return { replace: pairOf(nearest), append: [...all.map(policyLine), ...states] };
}

function isShown(quota: Quota): quota is Counted {
  return quota.kind === 'counted' && !quota.rule.shadow;
}

/** Of two refusals the longer one, else the one with fewer requests left. */
function nearer(a: Counted, b: Counted): Counted {
  if (a.allowed !== b.allowed) return a.allowed ? b : a;
  if (!a.allowed) return b.retryAfterMs > a.retryAfterMs ? b : a;
  return b.remaining < a.remaining ? b : a;
}

function pairOf({ limit, remaining }: Counted): readonly HeaderLine[] {
  return [
    ['x-ratelimit-limit', String(limit.units)],
    ['x-ratelimit-remaining', String(remaining)],
  ];
}

function policyLine({ limit: { name, units, windowMs } }: Counted): HeaderLine {
  return ['ratelimit-policy', `"${name}";q=${units};w=${seconds(windowMs)}`];
}

/** RL-4: whoever is told to come back after the wait is told of no window that goes on then. */
function stateLine({ limit, remaining, resetMs }: Counted, waitMs: number): HeaderLine {
  return ['ratelimit', `"${limit.name}";r=${remaining};t=${seconds(Math.min(resetMs, waitMs))}`];
}

/** Of the limit met first, which of two that refuse is the one that refuses longer. */
function waitOf({ allowed, retryAfterMs }: Counted): number {
  return allowed ? Number.POSITIVE_INFINITY : retryAfterMs;
}

/** The draft has whole seconds, and a window of 0 is not allowed; rounding up never promises more than is there. */
function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
