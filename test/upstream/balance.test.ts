// The three ways to choose a target, with random shares and callers.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BalancedTarget,
  byCaller,
  hashOf,
  leastLoaded,
  roundRobin,
} from '../../gateway/upstream/targets/balance.ts';

interface Named extends BalancedTarget {
  readonly name: string;
  readonly weight: number;
  inFlight: number;
}

const named = (name: string, weight = 1): Named => ({
  name,
  weight,
  seed: hashOf(name),
  inFlight: 0,
  credit: 0,
});
const share = ({ weight }: Named): number => weight;
const times = (count: number, pick: (index: number) => Named): string[] =>
  Array.from({ length: count }, (_, index) => pick(index).name);
const countOf = (names: readonly string[], name: string): number =>
  names.filter((each) => each === name).length;

describe('by round robin', () => {
  it('targets with equal shares are chosen in turn', () => {
    const all = ['a', 'b', 'c'].map((name) => named(name));
    expect(times(6, () => roundRobin(all, share, 0)).join('')).toBe('abcabc');
  });

  it('a target with half a share is chosen half as often, and not in a row', () => {
    const all = [named('a'), named('b', 0.5)];
    const chosen = times(9, () => roundRobin(all, share, 0)).join('');
    expect(countOf([...chosen], 'b')).toBe(3);
    expect(chosen).not.toContain('bb');
  });

  it('after any number of choices, no target is more than two away from its share', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 400 }),
        (weights, turns) => {
          const all = weights.map((weight, index) => named(String(index), weight / 1_000));
          const chosen = times(turns, () => roundRobin(all, share, 0));
          const total = weights.reduce((sum, weight) => sum + weight, 0);
          for (const [index, weight] of weights.entries()) {
            const fair = (turns * weight) / total;
            expect(Math.abs(countOf(chosen, String(index)) - fair)).toBeLessThanOrEqual(2);
          }
        },
      ),
    );
  });
});

describe('by least requests', () => {
  it('the target with the fewest running requests is chosen, or the next of several', () => {
    const all = [named('a'), named('b'), named('c')];
    const [a, , c] = all;
    if (a === undefined || c === undefined) throw new Error('no targets');
    a.inFlight = 3;
    c.inFlight = 1;
    expect(leastLoaded(all, share, 0).name).toBe('b');
    a.inFlight = 0;
    c.inFlight = 0;
    expect(
      times(6, () => leastLoaded(all, share, 0))
        .sort()
        .join(''),
    ).toBe('aabbcc');
  });

  it('a running request weighs more on a target with a smaller share', () => {
    const all = [named('a'), named('b', 0.25)];
    const chosen = times(10, () => {
      const next = leastLoaded(all, share, 0);
      next.inFlight += 1;
      return next;
    });
    expect(countOf(chosen, 'b')).toBe(2);
  });
});

describe('by caller', () => {
  const keys = Array.from({ length: 2_000 }, (_, index) => `consumer-${index}`);
  const placesOf = (all: readonly Named[]): Map<string, string> =>
    new Map(keys.map((key) => [key, byCaller(all, share, 0, key).name]));

  it('the same caller gets the same target in any order of the targets', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.uniqueArray(fc.nat(65_535), { minLength: 1, maxLength: 8 }),
        (key, ports) => {
          const all = ports.map((port) => named(`http://10.0.0.1:${port}`));
          expect(byCaller(all.toReversed(), share, 0, key).name).toBe(byCaller(all, share, 0, key).name);
        },
      ),
    );
  });

  it('callers are distributed evenly', () => {
    const all = [1, 2, 3, 4].map((port) => named(`http://127.0.0.1:400${port}`));
    const places = [...placesOf(all).values()];
    for (const { name } of all) {
      expect(countOf(places, name)).toBeGreaterThan(400);
      expect(countOf(places, name)).toBeLessThan(600);
    }
  });

  it('removing or adding a target moves only its own callers', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1, max: 65_535 }), { minLength: 2, maxLength: 8 }),
        fc.nat(),
        (ports, at) => {
          const all = ports.map((port) => named(`http://10.0.0.1:${port}`));
          const gone = all[at % all.length]?.name;
          const before = placesOf(all);
          const after = placesOf(all.filter(({ name }) => name !== gone));
          for (const key of keys) {
            const place = before.get(key);
            if (place !== gone) expect(after.get(key)).toBe(place);
          }
        },
      ),
      { numRuns: 25 },
    );
  });

  it('a target with a growing share gains callers one by one and loses none', () => {
    const rest = ['b', 'c'].map((name) => named(name));
    let before = new Set<string>();
    let last = 0;
    for (const weight of [0.01, 0.25, 0.5, 0.75, 1]) {
      const places = placesOf([named('a', weight), ...rest]);
      const here = new Set(keys.filter((key) => places.get(key) === 'a'));
      expect([...before].every((key) => here.has(key))).toBe(true);
      expect(here.size).toBeGreaterThan(last);
      before = here;
      last = here.size;
    }
  });
});
