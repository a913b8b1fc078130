// Filters an upstream's `Deprecation` and `Sunset`: valid values stay only with `upstream_wins`.
import type { HeaderLine } from '../contract.ts';
import type { Phase } from './schedule.ts';

const SIGNALS = ['deprecation', 'sunset'] as const;
export const UPSTREAM_SIGNALS: ReadonlySet<string> = new Set(SIGNALS);

/** RFC 9745 §2.1, and `true` from its drafts (DEP-9). */
const DEPRECATION = /^(?:@-?\d{1,15}|true)$/;
/** Octets of an IMF-fixdate (RFC 9110 §5.6.7). */
const FIXDATE_LENGTH = 29;

type Line = string | readonly string[] | undefined;

interface Lines {
  readonly get: (name: string) => Line;
}

export interface MergedSignals {
  readonly replace: readonly HeaderLine[];
  readonly warning: string | undefined;
  readonly dropped: readonly string[];
}

/**
 * The header lines of the gateway that are written beside those of the upstream. Valid lines of the upstream stay. If the
 * sunset would then be before the deprecation (RFC 9745 §4), the gateway writes both. The gateway's warning names its own
 * dates, so it is omitted beside other dates.
 */
export function mergeUpstreamSignals(
  { replace, warning }: Pick<Phase, 'replace' | 'warning'>,
  theirs: Lines,
): MergedSignals {
  const sound = [...UPSTREAM_SIGNALS].filter((name) => isValidSignal(name, theirs.get(name)));
  if (sound.length === 0 || replace.length === 0) return { replace, warning, dropped: [] };
  const ours: Readonly<Record<string, Line>> = Object.fromEntries(replace);
  const combined = { ...ours, ...Object.fromEntries(sound.map((name) => [name, theirs.get(name)])) };
  if (instantOf(combined.sunset) < instantOf(combined.deprecation))
    return { replace, warning, dropped: sound.filter((name) => ours[name] === undefined) };
  return {
    replace: replace.filter(([name]) => !sound.includes(name)),
    warning: sound.every((name) => theirs.get(name) === ours[name]) ? warning : undefined,
    dropped: [],
  };
}

/** Removes malformed lines, in every stage of a version (DEP-3, SUN-1). */
export function dropMalformed(theirs: Lines & { readonly remove: (name: string) => void }): void {
  for (const name of SIGNALS) {
    const line = theirs.get(name);
    if (line !== undefined && !isValidSignal(name, line)) theirs.remove(name);
  }
}

/** NaN if the line is no date: every comparison with it is false. */
function instantOf(line: Line): number {
  if (typeof line !== 'string') return Number.NaN;
  return line.startsWith('@') ? Number(line.slice(1)) * 1000 : Date.parse(line);
}

/**
 * Whether the upstream's line is valid: one line in a known form (DEP-9, SUN-1). Two lines are no singleton, whatever they
 * contain (DEP-2, SUN-3).
 */
function isValidSignal(name: string, value: Line): boolean {
  if (typeof value !== 'string' || !UPSTREAM_SIGNALS.has(name)) return false;
  return isHttpDate(value) || (name === 'deprecation' && DEPRECATION.test(value));
}

/** The round trip also checks the weekday: a sender may use no other form. */
function isHttpDate(text: string): boolean {
  return text.length === FIXDATE_LENGTH && new Date(text).toUTCString() === text;
}
