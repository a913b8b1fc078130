// The grammar of version labels and of what a request may write for one (VER-1).
import { parseInstant } from '../notation.ts';
import type { Label } from './resolution.ts';

/** A number or a semantic version, taken apart. `minor` and `patch` are undefined for the short form `vN`. */
export interface NumberedLabel {
  readonly kind: 'number';
  readonly major: number;
  readonly minor: number | undefined;
  readonly patch: number | undefined;
}

/** A day of the calendar, as written. */
export interface DateLabel {
  readonly kind: 'date';
  readonly date: string;
}

export type ParsedLabel = NumberedLabel | DateLabel;

/** What a request asks for: the newest version of a major, one version exactly, or the version of a day. */
export type RequestedVersion =
  | DateLabel
  | (NumberedLabel & {
      /** Whether it was written `vN`, as a path demands, rather than `N`. */
      readonly prefixed: boolean;
    });

const NUMBER = '(0|[1-9][0-9]{0,3})';
const REQUESTED = new RegExp(`^(v?)${NUMBER}(?:\\.${NUMBER}\\.${NUMBER})?$`);
const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/**
 * Reads a label as an operator declares it: `vN`, `vX.Y.Z` or a calendar date, no leading zeros (VER-1). Undefined
 * when it is none of these.
 */
export function parseLabel(text: string): ParsedLabel | undefined {
  const parsed = parseRequested(text);
  if (parsed === undefined || parsed.kind === 'date') return parsed;
  const { prefixed, ...label } = parsed;
  return prefixed ? label : undefined;
}

/** Reads what a request may write: `N`, `vN`, `X.Y.Z`, `vX.Y.Z` or `YYYY-MM-DD` (VER-1). Undefined when it is none of these. */
export function parseRequested(text: string): RequestedVersion | undefined {
  if (isDate(text)) return { kind: 'date', date: text };
  const match = REQUESTED.exec(text);
  if (match === null) return undefined;
  const [, prefix, major, minor, patch] = match;
  return {
    kind: 'number',
    prefixed: prefix === 'v',
    major: Number(major),
    minor: minor === undefined ? undefined : Number(minor),
    patch: patch === undefined ? undefined : Number(patch),
  };
}

/** Whether the text is a day that the calendar has, as `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  return DATE.test(text) && parseInstant(text) !== undefined;
}

/**
 * Orders labels from old to new. `vN` stands where `vN.0.0` would, just before it; dates follow all numbers, by day;
 * anything that is no label comes before every label, in code unit order.
 */
export function compareLabels(a: Label, b: Label): number {
  const left = parseLabel(a);
  const right = parseLabel(b);
  const kinds = rank(left) - rank(right);
  if (kinds !== 0) return kinds;
  if (left?.kind !== 'number' || right?.kind !== 'number') return a < b ? -1 : a > b ? 1 : 0;
  return (
    left.major - right.major ||
    (left.minor ?? 0) - (right.minor ?? 0) ||
    (left.patch ?? 0) - (right.patch ?? 0) ||
    Number(left.minor !== undefined) - Number(right.minor !== undefined)
  );
}

function rank(label: ParsedLabel | undefined): number {
  if (label === undefined) return 0;
  return label.kind === 'number' ? 1 : 2;
}
