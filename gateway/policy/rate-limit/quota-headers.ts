// Writes the rate-limit headers of a response, and merges those of the upstream with ours.
import type { HeaderLine } from '../contract.ts';
import type { Limit, LimitRules, Quota } from './limit.ts';

export interface QuotaLines {
  /** Singletons that replace the upstream's lines. */
  readonly replace: readonly HeaderLine[];
  /** Lists that follow the members of the upstream (RL-5). */
  readonly append: readonly HeaderLine[];
}

type Counted = Extract<Quota, { kind: 'counted' }>;

const NO_LINES: QuotaLines = { replace: [], append: [] };

/**
 * RL-2, RL-3: the header lines of counted quotas, refused or not. X-RateLimit shows the limit that is nearest to a refusal.
 * The lists show all limits. The remaining units of a limit by `everyone` reveal what others use, so they are shown only if
 * that limit is the nearest (RL-7). Shadow limits are not shown, and none is shown while the store is unavailable (RL-13).
 */
export function quotaLines(quotas: readonly Quota[]): QuotaLines {
  const [only] = quotas;
  // A shortcut, because most requests have one limit.
  if (only !== undefined && quotas.length === 1)
    return isShown(only) ? linesOf(only, policyOf(only.limit), stateOf(only, waitOf(only))) : NO_LINES;
  const all = quotas.filter(isShown);
  if (all.length === 0) return NO_LINES;
  const nearest = all.reduce(nearerToRefusal);
  const shownQuotas = all.filter((each) => each === nearest || each.rule.by !== 'everyone');
  const states = shownQuotas.map((each) => stateOf(each, waitOf(nearest)));
  return linesOf(nearest, all.map(({ limit }) => policyOf(limit)).join(', '), states.join(', '));
}

/** A cache of RateLimit-Policy members. Limits live as long as their plan. */
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

/** The longer of two refusals, otherwise the limit with fewer remaining units. */
function nearerToRefusal(a: Counted, b: Counted): Counted {
  if (a.allowed !== b.allowed) return a.allowed ? b : a;
  if (!a.allowed) return b.retryAfterMs > a.retryAfterMs ? b : a;
  return b.remaining < a.remaining ? b : a;
}

function linesOf({ limit, remaining }: Counted, policies: string, states: string): QuotaLines {
  return {
    replace: [
      ['x-ratelimit-limit', String(limit.units)],
      ['x-ratelimit-remaining', String(remaining)],
    ],
    append: [
      ['ratelimit-policy', policies],
      ['ratelimit', states],
    ],
  };
}

/** RL-4: the window never ends after the Retry-After delay, when the client may come back. */
function stateOf({ limit, remaining, resetMs }: Counted, waitMs: number): string {
  return `"${limit.name}";r=${remaining};t=${seconds(Math.min(resetMs, waitMs))}`;
}

/** The delay of the nearest limit is the longest one. */
function waitOf({ allowed, retryAfterMs }: Counted): number {
  return allowed ? Number.POSITIVE_INFINITY : retryAfterMs;
}

/** The draft uses whole seconds and forbids 0. Rounding up never promises too much. */
function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

/** RL-1: delay-seconds, rounded up and at least 1, so that an obedient client is not refused for coming early. */
export function retryAfterSeconds(refused: { readonly retryAfterMs: number }): number {
  return seconds(refused.retryAfterMs);
}

/** No limit name of the gateway contains a colon. */
const UPSTREAM_PREFIX = 'upstream:';

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
 * RL-5: a name must mean one policy in all responses. If an upstream's name equals the name of one of our limits in any
 * stage, it becomes `upstream:name`. Ours stay unchanged, because a 429 and its `violated-policies` name them without any
 * upstream. Values do not change. Undefined if the field is no list of such items: a client must ignore the whole field,
 * ours included.
 */
export function renameUpstreamPolicies(
  theirs: string | readonly string[],
  { each }: Pick<LimitRules, 'each'>,
): string | undefined {
  const ours = each.flatMap(({ active, deprecated, shadow }) =>
    shadow ? [] : [active.name, deprecated.name],
  );
  const text = typeof theirs === 'string' ? theirs : theirs.join(', ');
  if (ours.length === 0) return text;
  const policies: string[] = [];
  MEMBER.lastIndex = 0;
  for (;;) {
    const [, quoted, parameters = '', comma] = MEMBER.exec(text) ?? [];
    if (quoted === undefined) return undefined;
    const name = quoted.slice(1, -1);
    // A name that already has the prefix, from another gateway, gets it again, so that two names stay distinct.
    const isTaken = ours.includes(name) || name.startsWith(UPSTREAM_PREFIX);
    policies.push(`"${isTaken ? UPSTREAM_PREFIX : ''}${name}"${parameters}`);
    if (comma === undefined) return policies.join(', ');
  }
}
