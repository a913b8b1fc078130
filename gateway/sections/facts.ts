// Turns a policy file into comparable facts for diffs, one per observable setting.

import type { Path, SourceDocument } from '../plan/read/document.ts';
import { valueAt } from '../plan/read/values.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { BrownoutWindow } from '../policy/lifecycle/brownout-rule.ts';
import { dateInWords, type Rate } from '../policy/notation.ts';

/** A value to compare, and the text to show. Interpolated values are compared but not shown. */
export interface ComparedValue {
  readonly same: string;
  readonly shown: string;
}

export type FactValue =
  /** `at` and `rate` are set for dates and rates, so that a diff can show the distance. */
  | { readonly kind: 'word'; readonly word: ComparedValue; readonly at?: EpochMs; readonly rate?: Rate }
  /** An unordered set. */
  | { readonly kind: 'members'; readonly members: readonly ComparedValue[] }
  | { readonly kind: 'windows'; readonly windows: readonly BrownoutWindow[] };

export interface Fact {
  /** Such as `sunset`. For a list, the name of one member. */
  readonly what: string;
  readonly value: FactValue;
}

export type PartKind = 'api' | 'version' | 'operation' | 'upstream';

/** A part of an API that may be present or absent, with its facts. */
export interface ComparedPart {
  readonly noun: PartKind;
  /** `v1`, `v1 GET /search`, `upstream v1`. Empty for the API itself. */
  readonly name: string;
  readonly facts: readonly Fact[];
}

export interface ApiFacts {
  readonly api: string;
  /** The API itself first. */
  readonly subjects: readonly ComparedPart[];
}

export const dateFact = (what: string, at: EpochMs | undefined): readonly Fact[] =>
  at === undefined ? [] : [{ what, value: { kind: 'word', word: plainValue(dateInWords(at)), at } }];

/** Pass a string only if it contains no interpolated value. */
export const wordFact = (what: string, word: ComparedValue | string | undefined): readonly Fact[] =>
  word === undefined
    ? []
    : [{ what, value: { kind: 'word', word: typeof word === 'string' ? plainValue(word) : word } }];

export const rateFact = (what: string, rate: Rate | undefined): readonly Fact[] =>
  rate === undefined ? [] : [{ what, value: { kind: 'word', word: plainValue(formatRate(rate)), rate } }];

export const membersFact = (what: string, members: readonly ComparedValue[]): Fact => ({
  what,
  value: { kind: 'members', members },
});

const WINDOWS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** In the largest unit that divides the window: `600/1m`. */
function formatRate({ units, windowMs }: Rate): string {
  const [unit, ms] = WINDOWS.find(([, each]) => windowMs % each === 0) ?? ['ms', 1];
  return `${units}/${windowMs / ms}${unit}`;
}

/** For text that contains no interpolated value. */
export function plainValue(text: string): ComparedValue {
  return { same: text, shown: text };
}

/** The value at `path`. An interpolated value is compared, but shown as its source. */
export function comparedValueAt(document: SourceDocument, path: Path, value: unknown): ComparedValue {
  if (typeof value === 'string') {
    const plain = /^[^\s,"]+$/.test(value) ? value : JSON.stringify(value);
    return { same: value, shown: document.isHidden(path) ? document.show(path, value) : plain };
  }
  return { same: canonical(value), shown: canonical(masked(document, path, value)) };
}

/** Facts for the keys without a fact of their own. A new key thus appears in a diff without code here. */
export function otherFacts(
  document: SourceDocument,
  at: Path,
  known: ReadonlySet<string>,
  defaults: Readonly<Record<string, unknown>> = {},
): readonly Fact[] {
  const written = valueAt(document.value, at);
  if (typeof written !== 'object' || written === null) return [];
  const all: Readonly<Record<string, unknown>> = { ...defaults, ...written };
  return Object.entries(all).flatMap(([key, value]) =>
    known.has(key) ? [] : wordFact(key, comparedValueAt(document, [...at, key], value)),
  );
}

/** Sorts keys, so that their order makes no difference. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function masked(document: SourceDocument, path: Path, value: unknown): unknown {
  if (document.isSecret(path)) return document.show(path, value);
  if (typeof value !== 'object' && document.isHidden(path)) return document.show(path, value);
  if (Array.isArray(value)) return value.map((each, index) => masked(document, [...path, index], each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, masked(document, [...path, key], each)]),
  );
}
