// The grammar of version labels and of what a request may write for one (VER-1).
// Used when a plan is compiled and, for the rare value no look-up finds, when a request is judged.
import type { Label } from './resolution.ts';

/** A declared label taken apart. `minor` and `patch` are undefined for the short form `vN`. */
export interface ParsedLabel {
  readonly major: number;
  readonly minor: number | undefined;
  readonly patch: number | undefined;
}

/** What a request asks for: the newest version of a major, or one version exactly. */
export interface RequestedVersion extends ParsedLabel {
  /** Whether it was written `vN`, as a path demands, rather than `N`. */
  readonly prefixed: boolean;
}

const NUMBER = '(0|[1-9][0-9]{0,3})';
const REQUESTED = new RegExp(`^(v?)${NUMBER}(?:\\.${NUMBER}\\.${NUMBER})?$`);

/** Reads a label as an operator declares it: `vN` or `vX.Y.Z`, no leading zeros (VER-1). Undefined when it is neither. */
export function parseLabel(text: string): ParsedLabel | undefined {
  const parsed = parseRequested(text);
  return parsed?.prefixed ? { major: parsed.major, minor: parsed.minor, patch: parsed.patch } : undefined;
}

/** Reads what a request may write: `N`, `vN`, `X.Y.Z` or `vX.Y.Z` (VER-1). Undefined when it is none of these. */
export function parseRequested(text: string): RequestedVersion | undefined {
  const match = REQUESTED.exec(text);
  if (match === null) return undefined;
  const [, prefix, major, minor, patch] = match;
  return {
    prefixed: prefix === 'v',
    major: Number(major),
    minor: minor === undefined ? undefined : Number(minor),
    patch: patch === undefined ? undefined : Number(patch),
  };
}

/**
 * Orders labels from old to new. `vN` stands where `vN.0.0` would, just before it;
 * anything that is no label comes before every label, in code unit order.
 */
export function compareLabels(a: Label, b: Label): number {
  const left = parseLabel(a);
  const right = parseLabel(b);
  if (left === undefined || right === undefined) {
    if (left !== right) return left === undefined ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  return (
    left.major - right.major ||
    (left.minor ?? 0) - (right.minor ?? 0) ||
    (left.patch ?? 0) - (right.patch ?? 0) ||
    Number(left.minor !== undefined) - Number(right.minor !== undefined)
  );
}
