// Limits, access and idempotency keys as facts: what an API says of them, and a version or an operation instead of it.
import { defaultIdempotency, type WrittenIdempotency } from '../../policy/idempotency/section.ts';
import type { Rate } from '../../policy/notation.ts';
import { DEFAULT_LIMIT, type Lowering } from '../../policy/rate-limit/lowering.ts';
import { type NamedLimit, namedLimits, type WrittenLimits } from '../../policy/rate-limit/section.ts';
import type { OperationFile, PolicyFile, VersionFile } from '../../sections/policy-file.ts';
import type { Path, SourceDocument } from '../read/document.ts';
import { type Fact, membersFact, plainWord, rateFact, type Word, wordFact, writtenWord } from '../../sections/facts.ts';
import { spanInWords } from '../../policy/spans.ts';

/** What need not be told where it is as usual. */
const USUAL: Readonly<Record<string, unknown>> = { shadow: false, algorithm: 'gcra' };

/** `by`: who is counted where an API says nothing; for a version or an operation what is not written is the larger whole's. */
export function limitFacts(limits: WrittenLimits, by?: 'consumer' | 'address'): readonly Fact[] {
  if (limits === 'off') return wordFact('limit', plainWord('off'));
  return namedLimits(limits).flatMap((limit) => factsOfOne(limit, by));
}

/** A burst that is the rate itself is what it would be without being written. */
function factsOfOne(limit: NamedLimit, by: 'consumer' | 'address' | undefined): readonly Fact[] {
  const { name, rate, burst, deprecated } = limit;
  const isOnly = name === DEFAULT_LIMIT;
  const what = isOnly ? 'limit' : `limit ${name}`;
  const written = howOf(limit).filter(([key, value]) => by === undefined || USUAL[key] !== value);
  // How a limit of an API counts where nothing is said of it.
  const standing = by && { by, on_store_failure: 'local', exact: limit.algorithm === 'sliding-log' };
  const how = { ...standing, ...Object.fromEntries(written) };
  const ownBurst = burst === undefined || burst === rate?.units ? undefined : plainWord(String(burst));
  return [
    ...rateFact(what, rate),
    ...wordFact(`${what} burst`, ownBurst),
    ...(deprecated?.kind === 'absolute'
      ? rateFact(`${what} while deprecated`, rateOf(deprecated))
      : wordFact(`${what} while deprecated`, deprecated && plainWord(spellShare(deprecated)))),
    ...Object.entries(how).flatMap(([key, value]) =>
      wordFact(`${isOnly ? 'limits' : what} ${key}`, plainWord(String(value))),
    ),
  ];
}

/** What is written of how a limit counts. */
function howOf(limit: NamedLimit): readonly (readonly [string, unknown])[] {
  const { by, on_store_failure, exact, shadow, algorithm } = limit;
  const all = Object.entries({ by, on_store_failure, exact, shadow, algorithm });
  return all.filter(([, value]) => value !== undefined);
}

const WINDOWS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** As an operator writes it, in the largest unit that divides the window: `600/1m`. */
export function spellRate({ units, windowMs }: Rate): string {
  const [unit, ms] = WINDOWS.find(([, each]) => windowMs % each === 0) ?? ['ms', 1];
  return `${units}/${windowMs / ms}${unit}`;
}

function rateOf({ units, windowMs }: Rate): Rate {
  return { units, windowMs };
}

function spellShare(lowering: Exclude<Lowering, { kind: 'absolute' }>): string {
  const percent = (share: number) => `${Math.round(share * 100)}%`;
  return lowering.kind === 'factor'
    ? percent(lowering.factor)
    : `${percent(lowering.from)} falling to ${percent(lowering.to)}`;
}

type Access = PolicyFile['access'] | VersionFile['access'];

/** None for a version that takes all of it over. */
export function accessFacts(access: Access, document: SourceDocument, at: Path): readonly Fact[] {
  if (access === undefined) return [];
  if (access === 'public') return wordFact('access', plainWord('public'));
  const { identity, anonymous, scopes } = access;
  const facts = (['read', 'write'] as const).flatMap((use) => scopeFacts(`scope to ${use}`, scopes[use]));
  const by = identity === undefined ? [] : wordFact('access', identityWord(document, at, identity));
  return [...by, ...wordFact('anonymous', anonymous ? plainWord('true') : undefined), ...facts];
}

export function operationAccessFacts({ access }: OperationFile): readonly Fact[] {
  return [
    ...wordFact('access', access === 'public' ? plainWord('public') : undefined),
    ...(typeof access === 'object' ? scopeFacts('scope', access.scopes) : [membersFact('scope', [])]),
  ];
}

function identityWord(document: SourceDocument, at: Path, identity: string | readonly string[]): Word {
  const { same, shown } = writtenWord(document, [...at, 'identity'], identity);
  return { same: `by ${same}`, shown: `by ${shown}` };
}

/** That everybody may is said; that nobody may, since nothing is granted, is the absence of it. */
function scopeFacts(what: string, scopes: readonly string[] | undefined): readonly Fact[] {
  const isAny = scopes !== undefined && scopes.length === 0;
  return [membersFact(what, (isAny ? ['any'] : (scopes ?? [])).map(plainWord))];
}

/** `usual`: what need not be said, since it holds anyway. */
function factsWithout(written: WrittenIdempotency, usual: WrittenIdempotency): readonly Fact[] {
  const other = <K extends keyof WrittenIdempotency>(key: K, spell: (value: unknown) => string) => {
    const value = written[key];
    return value === undefined || value === usual[key]
      ? []
      : wordFact(`idempotency ${key}`, plainWord(spell(value)));
  };
  const bytes = (value: unknown) => `${value} bytes`;
  return [
    ...wordFact(
      'idempotency',
      plainWord((written.methods ?? usual.methods ?? []).toSorted().join(', ') || 'on'),
    ),
    ...other('required', String),
    ...other('keep', (value) => spanInWords(0, Number(value))),
    ...other('unknown', String),
    ...other('server_errors', String),
    ...other('anonymous', String),
    ...other('max_body', bytes),
    ...other('max_answer', bytes),
  ];
}

/** Of an API as a whole, where a default that is written out is no change. */
export function wholeIdempotencyFacts(written: WrittenIdempotency | undefined): readonly Fact[] {
  return written === undefined ? [] : factsWithout(written, defaultIdempotency);
}

export function idempotencyFacts(written: WrittenIdempotency | 'off' | undefined): readonly Fact[] {
  if (written === 'off') return wordFact('idempotency', plainWord('off'));
  return written === undefined ? [] : factsWithout(written, {});
}
