// The limits of an API, a version or an operation as facts: how much, how much at once, how much once deprecated.
// Written and inherited limits alike are compared where they are written.
import type { Rate } from '../../policy/notation.ts';
import type { Lowering } from '../../policy/rate-limit/lowering.ts';
import { type Fact, plainWord, rateFact, wordFact } from './facts.ts';

interface Written {
  readonly rate?: Rate | undefined;
  readonly burst?: number | undefined;
  readonly deprecated?: Lowering | undefined;
}

/** A burst that is the rate itself is what it would be without being written. */
export function limitFacts(limits: Written | 'off' | undefined): readonly Fact[] {
  if (limits === 'off') return wordFact('limit', plainWord('off'));
  const { rate, burst, deprecated } = limits ?? {};
  const ownBurst = burst === undefined || burst === rate?.units ? undefined : plainWord(String(burst));
  return [
    ...rateFact('limit', rate),
    ...wordFact('limit burst', ownBurst),
    ...(deprecated?.kind === 'absolute'
      ? rateFact('limit while deprecated', rateOf(deprecated))
      : wordFact('limit while deprecated', deprecated && plainWord(spellShare(deprecated)))),
  ];
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
