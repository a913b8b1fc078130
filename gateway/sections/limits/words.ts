// How a diff shows `limits`: each limit with its rate, its burst, what lowers it, and how it counts.
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

/** What need not be told where it is as usual. */
const USUAL: Readonly<Record<string, unknown>> = { shadow: false, algorithm: 'gcra' };

/** `by`: who is counted where an API says nothing; for a version or an operation what is not written is the larger whole's. */
function limitFacts(limits: WrittenLimits, by?: 'consumer' | 'address'): readonly Fact[] {
  if (limits === 'off') return wordFact('limit', 'off');
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
  const ownBurst = burst === undefined || burst === rate?.units ? undefined : String(burst);
  return [
    ...rateFact(what, rate),
    ...wordFact(`${what} burst`, ownBurst),
    ...(deprecated?.kind === 'absolute'
      ? rateFact(`${what} while deprecated`, rateOf(deprecated))
      : wordFact(`${what} while deprecated`, deprecated && spellShare(deprecated))),
    ...Object.entries(how).flatMap(([key, value]) =>
      wordFact(`${isOnly ? 'limits' : what} ${key}`, String(value)),
    ),
  ];
}

/** What is written of how a limit counts. */
function howOf(limit: NamedLimit): readonly (readonly [string, unknown])[] {
  const { by, on_store_failure, exact, shadow, algorithm } = limit;
  const all = Object.entries({ by, on_store_failure, exact, shadow, algorithm });
  return all.filter(([, value]) => value !== undefined);
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
