// Compares the facts of two policies, in the order of a policy file.
import type { BrownoutWindow } from '../../policy/lifecycle/brownout-rule.ts';
import { moveInWords } from '../../policy/spans.ts';
import type { ApiFacts, ComparedPart, ComparedValue, Fact, FactValue } from '../../sections/facts.ts';
import { type Difference, windowChanges } from './window-changes.ts';

export interface Change extends Difference {
  readonly api: string;
  /** `v1`, `v1 GET /search`, `upstream v1`. Empty for the API itself. */
  readonly subject: string;
}

/** Pairs entries by name, in the order of the first side. If a side repeats a name, its first entry counts. */
export function pairs<T>(
  some: readonly T[],
  others: readonly T[],
  nameOf: (each: T) => string,
): readonly (readonly [name: string, some: T | undefined, other: T | undefined])[] {
  const [ofSome, ofOthers] = [some, others].map(
    (side) => new Map(side.toReversed().map((each) => [nameOf(each), each])),
  );
  const names = new Set([...some, ...others].map(nameOf));
  return [...names].map((name) => [name, ofSome?.get(name), ofOthers?.get(name)]);
}

/** By API name. Equivalent values are no changes. */
export function compareFacts(older: readonly ApiFacts[], newer: readonly ApiFacts[]): readonly Change[] {
  const apis = pairs(older, newer, ({ api }) => api).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return apis.flatMap(([api, before, after]) =>
    before === undefined || after === undefined
      ? [{ api, subject: '', ...presence('API', before && formatApi(before), after && formatApi(after)) }]
      : compareParts(before.subjects, after.subjects).map((change) => ({ api, ...change })),
  );
}

/** `orders v1: sunset 2027-01-15 -> 2027-04-15, +3 months`. */
export function formatChange({ api, subject, what, from, to, by }: Change): string {
  const where = subject === '' ? api : `${api} ${subject}`;
  const words =
    from === undefined
      ? `${join(what, to)} added`
      : to === undefined
        ? `${join(what, from)} removed`
        : `${join(what, from)} -> ${to}`;
  return `${where}: ${words}${by === undefined ? '' : `, ${by}`}`;
}

function join(what: string, value: string | undefined): string {
  return value === undefined || value === '' ? what : `${what} ${value}`;
}

function compareParts(
  before: readonly ComparedPart[],
  after: readonly ComparedPart[],
): readonly Omit<Change, 'api'>[] {
  return pairs(before, after, ({ name }) => name).flatMap(([subject, older, newer]) => {
    const differences =
      older !== undefined && newer !== undefined
        ? compareEach(older.facts, newer.facts)
        : [presence((older ?? newer)?.noun ?? 'api', older && formatPart(older), newer && formatPart(newer))];
    return differences.map((difference) => ({ subject, ...difference }));
  });
}

function presence(what: string, from: string | undefined, to: string | undefined): Difference {
  return { what, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

function formatApi({ subjects }: ApiFacts): string {
  const versions = subjects.filter(({ noun }) => noun === 'version').map(({ name }) => name);
  return versions.length === 0 ? '' : `(${versions.join(', ')})`;
}

/** Describes an added or removed part by its dates or its targets. */
function formatPart({ facts }: ComparedPart): string {
  const stated = facts.flatMap(({ what, value }) => {
    if (value.kind === 'word' && value.at !== undefined) return [`${what} ${value.word.shown}`];
    return what === 'target' && value.kind === 'members' ? value.members.map(({ shown }) => shown) : [];
  });
  return stated.length === 0 ? '' : `(${stated.join(', ')})`;
}

function compareEach(before: readonly Fact[], after: readonly Fact[]): readonly Difference[] {
  return pairs(before, after, ({ what }) => what).flatMap(([what, older, newer]) =>
    compareValues(what, older?.value, newer?.value),
  );
}

type WordFact = Extract<FactValue, { kind: 'word' }>;

function compareValues(
  what: string,
  from: FactValue | undefined,
  to: FactValue | undefined,
): readonly Difference[] {
  if (from?.kind === 'members' || to?.kind === 'members')
    return compareMembers(what, membersOf(from), membersOf(to));
  if (from?.kind === 'windows' || to?.kind === 'windows')
    return windowChanges(windowsOf(from), windowsOf(to));
  if (from === undefined || to === undefined) return [presence(what, from?.word.shown, to?.word.shown)];
  if (from.word.same === to.word.same) return [];
  const by = movement(from, to);
  return [{ what, from: from.word.shown, to: to.word.shown, ...(by !== undefined && { by }) }];
}

function membersOf(value: FactValue | undefined): readonly ComparedValue[] {
  return value?.kind === 'members' ? value.members : [];
}

function windowsOf(value: FactValue | undefined): readonly BrownoutWindow[] {
  return value?.kind === 'windows' ? value.windows : [];
}

/** One removed and one added member are a change. Otherwise each is listed as added or removed. */
function compareMembers(
  what: string,
  before: readonly ComparedValue[],
  after: readonly ComparedValue[],
): readonly Difference[] {
  const without = (these: readonly ComparedValue[], those: readonly ComparedValue[]) =>
    these.filter(({ same }) => !those.some((other) => other.same === same)).map(({ shown }) => shown);
  const gone = without(before, after);
  const come = without(after, before);
  const [from] = gone;
  const [to] = come;
  if (gone.length === 1 && come.length === 1 && from !== undefined && to !== undefined)
    return [{ what, from, to }];
  return [...gone.map((each) => ({ what, from: each })), ...come.map((each) => ({ what, to: each }))];
}

function movement(from: WordFact, to: WordFact): string | undefined {
  if (from.at !== undefined && to.at !== undefined) return moveInWords(from.at, to.at);
  if (from.rate === undefined || to.rate === undefined) return undefined;
  const older = from.rate.units * to.rate.windowMs;
  const newer = to.rate.units * from.rate.windowMs;
  return newer === older ? undefined : newer < older ? 'lowered' : 'raised';
}
