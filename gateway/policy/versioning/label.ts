// Parses and compares version labels and the versions that requests name (VER-1).
import { parseInstant } from '../notation.ts';
import type { Label } from './resolution.ts';

/** A number or a semantic version. `minor` and `patch` are undefined for the short form `vN`. */
export interface NumberedLabel {
  readonly kind: 'number';
  readonly major: number;
  readonly minor: number | undefined;
  readonly patch: number | undefined;
}

export interface DateLabel {
  readonly kind: 'date';
  readonly date: string;
}

export type ParsedLabel = NumberedLabel | DateLabel;

export type RequestedVersion =
  | DateLabel
  | (NumberedLabel & {
      /** Whether it was written as `vN`, which a path requires, instead of `N`. */
      readonly prefixed: boolean;
    });

const NUMBER = '(0|[1-9][0-9]{0,3})';
const REQUESTED = new RegExp(`^(v?)${NUMBER}(?:\\.${NUMBER}\\.${NUMBER})?$`);
const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/** Parses a declared label: `vN`, `vX.Y.Z` or a calendar date, without leading zeros (VER-1). */
export function parseLabel(text: string): ParsedLabel | undefined {
  const parsed = parseRequested(text);
  if (parsed === undefined || parsed.kind === 'date') return parsed;
  const { prefixed, ...label } = parsed;
  return prefixed ? label : undefined;
}

/** Parses a version from a request: `N`, `vN`, `X.Y.Z`, `vX.Y.Z` or `YYYY-MM-DD` (VER-1). */
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

/** Whether the text is an existing calendar day in the form `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  return DATE.test(text) && parseInstant(text) !== undefined;
}

/**
 * Orders labels from old to new. `vN` comes just before `vN.0.0`. Dates follow all numbers. Invalid labels come first, in
 * code unit order.
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
