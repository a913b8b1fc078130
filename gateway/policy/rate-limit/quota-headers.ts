// What clients are told of limits: our pair of lines, the RateLimit draft's, Retry-After, and beside ours what an upstream says.
import type { HeaderLine } from '../contract.ts';
import type { Limit, LimitRules, Quota } from './limit.ts';

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
    return isShown(only) ? linesOf(only, policyOf(only.limit), stateOf(only, waitOf(only))) : NO_LINES;
  const all = quotas.filter(isShown);
  if (all.length === 0) return NO_LINES;
  const nearest = all.reduce(nearer);
  const told = all.filter((each) => each === nearest || each.rule.by !== 'everyone');
  const states = told.map((each) => stateOf(each, waitOf(nearest)));
  return linesOf(nearest, all.map(({ limit }) => policyOf(limit)).join(', '), states.join(', '));
}

/** Members of RateLimit-Policy: limits are of a plan, and so is the text. */
const policies = new WeakMap<Limit, string>();

function policyOf(limit: Limit): string {
  const known = policies.get(limit);
  if (known !== undefined) return known;
  const made = `"${limit.name}";q=${limit.units};w=${seconds(limit.windowMs)}`;
  policies.set(limit, made);
  return made;
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

function linesOf({ limit, remaining }: Counted, told: string, states: string): QuotaLines {
  return {
    replace: [
      ['x-ratelimit-limit', String(limit.units)],
      ['x-ratelimit-remaining', String(remaining)],
    ],
    append: [
      ['ratelimit-policy', told],
      ['ratelimit', states],
    ],
  };
}

/** RL-4: whoever is told to come back after the wait is told of no window that goes on then. */
function stateOf({ limit, remaining, resetMs }: Counted, waitMs: number): string {
  return `"${limit.name}";r=${remaining};t=${seconds(Math.min(resetMs, waitMs))}`;
}

/** Of the limit met first, which of two that refuse is the one that refuses longer. */
function waitOf({ allowed, retryAfterMs }: Counted): number {
  return allowed ? Number.POSITIVE_INFINITY : retryAfterMs;
}

/** The draft has whole seconds, and a window of 0 is not allowed; rounding up never promises more than is there. */
function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

/** RL-1: delay-seconds, rounded up and at least 1, so that a client who obeys is not refused again for coming early. */
export function retryAfterSeconds(refused: { readonly retryAfterMs: number }): number {
  return seconds(refused.retryAfterMs);
}

/** No name of ours has a colon. */
const THEIRS = 'upstream:';

const STRING = String.raw`"(?:[ !#-[\]-~]|\\["\\])*"`;
const KEY = '[a-z*][a-z0-9_.*-]*';
/** Every bare item of RFC 9651 §3.3. */
const BARE = [
  String.raw`-?\d{1,15}(?:\.\d{1,3})?`,
  STRING,
  "[A-Za-z*][!#$%&'*+.^_`|~:/0-9A-Za-z-]*",
  ':[A-Za-z0-9+/=]*:',
  String.raw`\?[01]`,
  String.raw`@-?\d{1,15}`,
  '%"(?:[ !#$&-~]|%[0-9a-f]{2})*"',
].join('|');
const MEMBER = new RegExp(`(${STRING})((?:; *${KEY}(?:=(?:${BARE}))?)*)[ \\t]*(?:(,)[ \\t]*|$)`, 'y');

/**
 * RL-5: a name stands for one policy, in every answer. One of theirs that is the name of a limit here, in any stage, is told
 * as `upstream:name`. Ours keep theirs: the 429 and its `violated-policies` say them where no upstream has answered, so that
 * a client which had to tell `default` from `default` would take the room of the one for that of the other. No value changes,
 * so that nothing is relaxed. Undefined for what is no list of such items: a client must ignore it, and ours with it.
 */
export function besideOurs(
  theirs: string | readonly string[],
  { each }: Pick<LimitRules, 'each'>,
): string | undefined {
  const ours = each.flatMap(({ active, deprecated, shadow }) =>
    shadow ? [] : [active.name, deprecated.name],
  );
  const text = typeof theirs === 'string' ? theirs : theirs.join(', ');
  if (ours.length === 0) return text;
  const told: string[] = [];
  MEMBER.lastIndex = 0;
  for (;;) {
    const [, quoted, parameters = '', comma] = MEMBER.exec(text) ?? [];
    if (quoted === undefined) return undefined;
    const name = quoted.slice(1, -1);
    // One that has the prefix already, from another gateway, gets it again: two names stay two.
    const isTaken = ours.includes(name) || name.startsWith(THEIRS);
    told.push(`"${isTaken ? THEIRS : ''}${name}"${parameters}`);
    if (comma === undefined) return told.join(', ');
  }
}
