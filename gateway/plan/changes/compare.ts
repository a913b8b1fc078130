// From the facts of two sides to their differences, in the order a policy file is read.
import { dateInWords } from '../../policy/notation.ts';
import { moveInWords } from '../../policy/spans.ts';
import type { ApiFacts, Fact, FactValue, Subject, Word } from '../../sections/facts.ts';
import { spellRate } from '../../sections/limits/words.ts';
import { plural } from '../problems.ts';
import { type Difference, windowChanges } from './window-changes.ts';

export interface Change extends Difference {
  readonly api: string;
  /** `v1`, `v1 GET /search`, `upstream v1`; empty for the API itself. */
  readonly subject: string;
}

/** By name of the API; what both sides mean alike is not in the result. */
export function compareFacts(older: readonly ApiFacts[], newer: readonly ApiFacts[]): readonly Change[] {
  const names = [...new Set([...older, ...newer].map(({ api }) => api))].sort();
  return names.flatMap((api) => {
    const [before, after] = [older, newer].map((side) => side.find((each) => each.api === api));
    if (before === undefined || after === undefined)
      return [{ api, subject: '', ...presence('API', before && spellApi(before), after && spellApi(after)) }];
    return compareSubjects(before.subjects, after.subjects).map((change) => ({ api, ...change }));
  });
}

/** `orders v1: sunset 2027-01-15 -> 2027-04-15, +3 months`. */
export function spellChange({ api, subject, what, from, to, by }: Change): string {
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

function compareSubjects(
  before: readonly Subject[],
  after: readonly Subject[],
): readonly Omit<Change, 'api'>[] {
  const names = [...new Set([...before, ...after].map(({ name }) => name))];
  return names.flatMap((subject): readonly Omit<Change, 'api'>[] => {
    const [older, newer] = [before, after].map((side) => side.find(({ name }) => name === subject));
    if (older !== undefined && newer !== undefined)
      return compareEach(older.facts, newer.facts).map((difference) => ({ subject, ...difference }));
    const [one] = [older, newer].filter((each) => each !== undefined);
    const noun = one?.noun ?? 'api';
    return [{ subject, ...presence(noun, older && spellSubject(older), newer && spellSubject(newer)) }];
  });
}

function presence(what: string, from: string | undefined, to: string | undefined): Difference {
  return { what, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}

function spellApi({ subjects }: ApiFacts): string {
  const versions = subjects.filter(({ noun }) => noun === 'version').map(({ name }) => name);
  return versions.length === 0 ? '' : `(${versions.join(', ')})`;
}

/** What is new or gone as a whole is named with its dates, or with where it leads. */
function spellSubject({ facts }: Subject): string {
  const said = facts.flatMap(({ what, value }) => {
    if (value.kind === 'date') return [`${what} ${spell(value)}`];
    return what === 'target' && value.kind === 'members' ? value.members.map(({ shown }) => shown) : [];
  });
  return said.length === 0 ? '' : `(${said.join(', ')})`;
}

function compareEach(before: readonly Fact[], after: readonly Fact[]): readonly Difference[] {
  const whats = [...new Set([...before, ...after].map(({ what }) => what))];
  return whats.flatMap((what) => {
    const [older, newer] = [before, after].map((side) => side.find((fact) => fact.what === what)?.value);
    return compareValues(what, older, newer);
  });
}

function compareValues(
  what: string,
  from: FactValue | undefined,
  to: FactValue | undefined,
): readonly Difference[] {
  if (from?.kind === 'members' || to?.kind === 'members')
    return compareMembers(what, membersOf(from), membersOf(to));
  if (from?.kind === 'windows' && to?.kind === 'windows') return windowChanges(from.windows, to.windows);
  if (from === undefined || to === undefined) return [presence(what, from && spell(from), to && spell(to))];
  if (isSame(from, to)) return [];
  const by = movement(from, to);
  return [{ what, from: spell(from), to: spell(to), ...(by !== undefined && { by }) }];
}

function membersOf(value: FactValue | undefined): readonly Word[] {
  return value?.kind === 'members' ? value.members : [];
}

/** One for one is a change of that one; otherwise each that came and each that went is said. */
function compareMembers(
  what: string,
  before: readonly Word[],
  after: readonly Word[],
): readonly Difference[] {
  const without = (these: readonly Word[], those: readonly Word[]) =>
    these.filter(({ same }) => !those.some((other) => other.same === same)).map(({ shown }) => shown);
  const gone = without(before, after);
  const come = without(after, before);
  const [from] = gone;
  const [to] = come;
  if (gone.length === 1 && come.length === 1 && from !== undefined && to !== undefined)
    return [{ what, from, to }];
  return [...gone.map((each) => ({ what, from: each })), ...come.map((each) => ({ what, to: each }))];
}

function isSame(a: FactValue, b: FactValue): boolean {
  if (a.kind === 'date' && b.kind === 'date') return a.at === b.at;
  if (a.kind === 'rate' && b.kind === 'rate') return spellRate(a.rate) === spellRate(b.rate);
  return a.kind === 'word' && b.kind === 'word' && a.word.same === b.word.same;
}

function movement(from: FactValue, to: FactValue): string | undefined {
  if (from.kind === 'date' && to.kind === 'date') return moveInWords(from.at, to.at);
  if (from.kind !== 'rate' || to.kind !== 'rate') return undefined;
  const older = from.rate.units * to.rate.windowMs;
  const newer = to.rate.units * from.rate.windowMs;
  return newer === older ? undefined : newer < older ? 'lowered' : 'raised';
}

function spell(value: FactValue): string {
  switch (value.kind) {
    case 'date':
      return dateInWords(value.at);
    case 'word':
      return value.word.shown;
    case 'rate':
      return spellRate(value.rate);
    case 'members':
      return value.members.map(({ shown }) => shown).join(', ');
    case 'windows':
      return plural(value.windows.length, 'window');
    default:
      return value satisfies never;
  }
}
