// What a policy file says, as comparable facts: one per thing that callers, upstreams or rules can notice.

import type { Path, SourceDocument } from '../plan/read/document.ts';
import { valueAt } from '../plan/read/values.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { BrownoutWindow } from '../policy/lifecycle/brownout-rule.ts';
import { dateInWords, type Rate } from '../policy/notation.ts';

/** A value as it is compared, and as it may be shown: what came in by interpolation is not. */
export interface Word {
  readonly same: string;
  readonly shown: string;
}

export type FactValue =
  /** `at`, `rate`: of a date and of a rate, to say how far they have moved. */
  | { readonly kind: 'word'; readonly word: Word; readonly at?: EpochMs; readonly rate?: Rate }
  /** In any order; what is compared is who belongs to it. */
  | { readonly kind: 'members'; readonly members: readonly Word[] }
  | { readonly kind: 'windows'; readonly windows: readonly BrownoutWindow[] };

export interface Fact {
  /** Such as `sunset`; of a list, what one member is called. */
  readonly what: string;
  readonly value: FactValue;
}

export type Noun = 'api' | 'version' | 'operation' | 'upstream';

/** What can be there or not, with all that is said of it. */
export interface ComparedPart {
  readonly noun: Noun;
  /** `v1`, `v1 GET /search`, `upstream v1`; empty for the API itself. */
  readonly name: string;
  readonly facts: readonly Fact[];
}

/** One API as one side describes it. */
export interface ApiFacts {
  readonly api: string;
  /** The API itself first. */
  readonly subjects: readonly ComparedPart[];
}

export const dateFact = (what: string, at: EpochMs | undefined): readonly Fact[] =>
  at === undefined ? [] : [{ what, value: { kind: 'word', word: plainWord(dateInWords(at)), at } }];

/** A string is text of our own making, or that is public in any case. */
export const wordFact = (what: string, word: Word | string | undefined): readonly Fact[] =>
  word === undefined
    ? []
    : [{ what, value: { kind: 'word', word: typeof word === 'string' ? plainWord(word) : word } }];

export const rateFact = (what: string, rate: Rate | undefined): readonly Fact[] =>
  rate === undefined ? [] : [{ what, value: { kind: 'word', word: plainWord(spellRate(rate)), rate } }];

export const membersFact = (what: string, members: readonly Word[]): Fact => ({
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

/** As an operator writes it, in the largest unit that divides the window: `600/1m`. */
function spellRate({ units, windowMs }: Rate): string {
  const [unit, ms] = WINDOWS.find(([, each]) => windowMs % each === 0) ?? ['ms', 1];
  return `${units}/${windowMs / ms}${unit}`;
}

/** Text of our own making, or that is public in any case. */
export function plainWord(text: string): Word {
  return { same: text, shown: text };
}

/** Any value that stands at `path`. What is there by interpolation is compared, and shown as where it came from. */
export function writtenWord(document: SourceDocument, path: Path, value: unknown): Word {
  if (typeof value === 'string') {
    const plain = /^[^\s,"]+$/.test(value) ? value : JSON.stringify(value);
    return { same: value, shown: document.isHidden(path) ? document.show(path, value) : plain };
  }
  return { same: canonical(value), shown: canonical(masked(document, path, value)) };
}

/** Whatever a grammar has that no fact above names, key by key: a new key is compared without a line here. */
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
    known.has(key) ? [] : wordFact(key, writtenWord(document, [...at, key], value)),
  );
}

/** Keys in one order, so that the order of writing is no difference. */
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
