// The diff of `limits`: rate, burst, lowered limit and counting of each limit.
import type { Rate } from '../../policy/notation.ts';
import { DEFAULT_LIMIT, type Lowering } from '../../policy/rate-limit/lowering.ts';
import { type Fact, rateFact, wordFact } from '../facts.ts';
import type { Words } from '../section.ts';
import { type NamedLimit, namedLimits, type WrittenLimits } from './grammar.ts';

export const limitsWords: Words = {
  ofApi: {
    limits: ({ limits, access }) => limitFacts(limits, access === 'public' ? 'address' : 'consumer'),
  },
  ofVersion: { limits: ({ limits }) => limitFacts(limits) },
  ofOperation: { limits: ({ limits }) => limitFacts(limits) },
};

/** Values that need no fact. */
const DEFAULTS: Readonly<Record<string, unknown>> = { shadow: false, algorithm: 'gcra' };

/** `by`: the API's default for what is counted. Versions and operations inherit it. */
function limitFacts(limits: WrittenLimits, by?: 'consumer' | 'address'): readonly Fact[] {
  if (limits === 'off') return wordFact('limit', 'off');
  return namedLimits(limits).flatMap((limit) => factsOfOne(limit, by));
}

/** A burst equal to the rate is the default. */
function factsOfOne(limit: NamedLimit, by: 'consumer' | 'address' | undefined): readonly Fact[] {
  const { name, rate, burst, deprecated } = limit;
  const isOnly = name === DEFAULT_LIMIT;
  const what = isOnly ? 'limit' : `limit ${name}`;
  const written = countingOf(limit).filter(([key, value]) => by === undefined || DEFAULTS[key] !== value);
  // The API's defaults for counting.
  const standing = by && { by, on_store_failure: 'local', exact: limit.algorithm === 'sliding-log' };
  const how = { ...standing, ...Object.fromEntries(written) };
  const ownBurst = burst === undefined || burst === rate?.units ? undefined : String(burst);
  return [
    ...rateFact(what, rate),
    ...wordFact(`${what} burst`, ownBurst),
    ...(deprecated?.kind === 'absolute'
      ? rateFact(`${what} while deprecated`, rateOf(deprecated))
      : wordFact(`${what} while deprecated`, deprecated && formatShare(deprecated))),
    ...Object.entries(how).flatMap(([key, value]) =>
      wordFact(`${isOnly ? 'limits' : what} ${key}`, String(value)),
    ),
  ];
}

function countingOf(limit: NamedLimit): readonly (readonly [string, unknown])[] {
  const { by, on_store_failure, exact, shadow, algorithm } = limit;
  const all = Object.entries({ by, on_store_failure, exact, shadow, algorithm });
  return all.filter(([, value]) => value !== undefined);
}

function rateOf({ units, windowMs }: Rate): Rate {
  return { units, windowMs };
}

function formatShare(lowering: Exclude<Lowering, { kind: 'absolute' }>): string {
  const percent = (share: number) => `${Math.round(share * 100)}%`;
  return lowering.kind === 'factor'
    ? percent(lowering.factor)
    : `${percent(lowering.from)} falling to ${percent(lowering.to)}`;
}
