// What an upstream may say of its own life: nothing malformed, and in place of the gateway only with `upstream_wins`.
// Asked when its answer is decorated.
import type { HeaderLine } from '../contract.ts';

/** The fields that may be the upstream's; no other is its to say. */
const SIGNALS = ['deprecation', 'sunset'] as const;
export const UPSTREAM_SIGNALS: ReadonlySet<string> = new Set(SIGNALS);

/** RFC 9745 §2.1, and the bare word of its drafts (DEP-9). */
const DEPRECATION = /^(?:@-?\d{1,15}|true)$/;
/** Octets of an IMF-fixdate (RFC 9110 §5.6.7). */
const FIXDATE_LENGTH = 29;

type Line = string | readonly string[] | undefined;

/**
 * Of the lines the gateway would write (`ours`) those that it writes, beside what the upstream says in its answer
 * (`theirs`). What is sound of theirs stays, unless the two would then tell of an end before the deprecation (RFC 9745 §4).
 */
export function besideUpstream(
  ours: readonly HeaderLine[],
  theirs: Readonly<Record<string, Line>>,
): readonly HeaderLine[] {
  const needed = ours.filter(([name]) => !isSoundSignal(name, theirs[name]));
  if (needed.length === ours.length) return ours;
  const said = { ...theirs, ...Object.fromEntries(needed) };
  return instantOf(said.sunset) < instantOf(said.deprecation) ? ours : needed;
}

/** Deletes in place what no reader could use: in no stage of a version does it reach a client (DEP-3, SUN-1). */
export function dropMalformed(theirs: Record<string, Line>): void {
  for (const name of SIGNALS)
    if (theirs[name] !== undefined && !isSoundSignal(name, theirs[name])) delete theirs[name];
}

/** NaN, which is before and after nothing, for what names no instant. */
function instantOf(line: Line): number {
  if (typeof line !== 'string') return Number.NaN;
  return line.startsWith('@') ? Number(line.slice(1)) * 1000 : Date.parse(line);
}

/**
 * Whether the upstream's `value` may stay: one line of a field that may be its own, in a form that readers know (DEP-9,
 * SUN-1). Two lines are no singleton, whatever each of them says (DEP-2, SUN-3).
 */
function isSoundSignal(name: string, value: Line): boolean {
  if (typeof value !== 'string' || !UPSTREAM_SIGNALS.has(name)) return false;
  return isHttpDate(value) || (name === 'deprecation' && DEPRECATION.test(value));
}

/** With the right day of the week: a sender may use no other form. */
function isHttpDate(text: string): boolean {
  return text.length === FIXDATE_LENGTH && new Date(text).toUTCString() === text;
}
