// The 429 of a limit: how long to wait, which limits were met, and why they are as low as they are (RL-1, RL-6).
// Asked by refusal-answer.ts for the limits of an API and for the guard.
import type { RateLimitRefusal } from '../policy/rate-limit/limit.ts';
import { isLowered } from '../policy/rate-limit/lowering.ts';
import { type ErrorDescription, refuse } from './error-body.ts';
import type { Decision } from './facts.ts';
import { whereToGo } from './lifecycle-answer.ts';

/** Of the registry of problem types, which the RateLimit draft adds to (RL-6). */
const PROBLEM_TYPES = 'https://iana.org/assignments/http-problem-types';
const QUOTA_EXCEEDED = `${PROBLEM_TYPES}#quota-exceeded`;
/** RL-6: too much for all together, whoever it is that asks. */
export const REDUCED_CAPACITY = {
  type: `${PROBLEM_TYPES}#temporary-reduced-capacity`,
  title: 'Temporary Reduced Capacity',
  members: {},
} satisfies ErrorDescription['problem'];

/** What the limits of an address are called. */
const ADDRESS = { guard_limited: 'guard', tokens_limited: 'unknown-tokens' } as const;

type Met = Exclude<RateLimitRefusal, { reason: 'limits_unavailable' }>;

export function describeLimitRefusal(refusal: Met, facts: Decision): ErrorDescription {
  const { retryAfterSeconds } = refusal;
  const wait = retryAfterSeconds === 1 ? '1 second' : `${retryAfterSeconds} seconds`;
  const names =
    refusal.reason === 'rate_limited'
      ? refusal.violated.map(({ limit }) => limit.name)
      : [ADDRESS[refusal.reason]];
  return {
    ...refuse(
      429,
      ['Rate limit exceeded.', ...reasons(refusal), `Retry in ${wait}.`].join(' '),
      { retryAfter: retryAfterSeconds, ...migration(facts) },
      { 'retry-after': String(retryAfterSeconds) },
    ),
    problem: { type: QUOTA_EXCEEDED, title: 'Quota Exceeded', members: { 'violated-policies': names } },
  };
}

/** What the caller would not know from the numbers. */
function reasons(refusal: Met): readonly string[] {
  if (refusal.reason === 'guard_limited') return [];
  if (refusal.reason === 'tokens_limited') return ['Too many tokens from this address were not valid.'];
  const words: string[] = [];
  if (refusal.violated.some(({ limit }) => isLowered(limit)))
    words.push('The limit is lower since this version is deprecated.');
  if (refusal.violated.some(({ by }) => by === 'everyone'))
    words.push('This limit is shared by all callers.');
  return words;
}

/** A limit met on a deprecated version says where the room is. */
function migration({ phase, version, successor }: Decision): ErrorDescription['members'] {
  if (phase?.stage !== 'deprecated' || version === undefined) return {};
  const { guide } = version.schedule;
  return whereToGo({ ...successor, guide });
}
