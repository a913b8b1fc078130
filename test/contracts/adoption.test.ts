// When consumers were first seen, in front of a ledger: what is asked of it, how often, and what counts where it is silent.
import { describe, expect, it } from 'vitest';
import { type EpochMs, StoreUnavailable } from '../../gateway/policy/contract.ts';
import { createAdoption, type Unjudged } from '../../gateway/stores/adoption.ts';

const FREEZE = Date.UTC(2026, 5, 1);
/** Of the lifecycle, when it is asked. */
const LATER = FREEZE + 3_600_000;
const acme = { consumer: 'acme', api: 'orders', version: 'v1' };

interface Ledger {
  readonly seen: Map<string, EpochMs>;
  began: EpochMs | undefined;
  away: boolean;
  asked: number;
}

function open(most?: number) {
  const ledger: Ledger = { seen: new Map(), began: FREEZE - 1, away: false, asked: 0 };
  const unjudged: Unjudged[] = [];
  let clock = 0;
  const answer = async <T>(value: () => T): Promise<T> => {
    ledger.asked += 1;
    if (ledger.away) throw new StoreUnavailable('away');
    return value();
  };
  const adoption = createAdoption(
    {
      firstSeen: ({ consumer }) =>
        answer(() => ({ at: ledger.seen.get(consumer), countedSince: ledger.began })),
    },
    {
      now: () => clock,
      onUnjudged: (_version, why) => unjudged.push(why),
      ...(most !== undefined && { most }),
    },
  );
  return {
    ledger,
    unjudged,
    pass: (ms: number) => {
      clock += ms;
    },
    isLate: (consumer = 'acme', freeze = FREEZE, at = LATER) =>
      adoption.isLate({ ...acme, consumer }, freeze, at),
    saw: (at: EpochMs, consumer = 'acme') => adoption.saw({ ...acme, consumer }, at),
  };
}

describe('a consumer of a frozen version', () => {
  it.each<[string, EpochMs | undefined, boolean]>([
    ['seen before the day is known', FREEZE - 1, false],
    ['seen first at its first instant is late', FREEZE, true],
    ['seen first later is late', FREEZE + 86_400_000, true],
    ['never seen is late', undefined, true],
  ])('%s', async (_title, at, late) => {
    const { ledger, isLate, unjudged } = open();
    if (at !== undefined) ledger.seen.set('acme', at);
    expect(await isLate()).toBe(late);
    expect(unjudged).toEqual([]);
  });

  it('seen before is answered at once from then on, for any day, and never asked about again', async () => {
    const { ledger, isLate, pass } = open();
    ledger.seen.set('acme', FREEZE - 10);
    expect(await isLate()).toBe(false);
    pass(10 * 86_400_000);
    ledger.away = true;
    expect(isLate()).toBe(false);
    expect(ledger.asked).toBe(1);
    expect(await isLate('acme', FREEZE - 20)).toBe(false);
    expect(ledger.asked).toBe(2);
  });

  it('never seen is asked about again in seconds, since others may not have told yet whom they saw', async () => {
    const { ledger, isLate, pass } = open();
    expect(await isLate()).toBe(true);
    ledger.seen.set('acme', FREEZE - 1);
    expect(await isLate()).toBe(true);
    expect(ledger.asked).toBe(1);
    pass(5_000);
    expect(await isLate()).toBe(false);
  });

  it('right after the day is asked about again in a moment: what others counted before it is on its way', async () => {
    const { ledger, isLate, pass } = open();
    expect(await isLate('acme', FREEZE, FREEZE + 100)).toBe(true);
    ledger.seen.set('acme', FREEZE - 100);
    pass(250);
    expect(await isLate('acme', FREEZE, FREEZE + 350)).toBe(false);
  });

  it('that called here before the day is known at once, whatever the store has heard, and whether or not it answers', async () => {
    const { ledger, isLate, saw, unjudged } = open();
    saw(FREEZE - 1);
    saw(FREEZE - 500);
    saw(FREEZE - 2);
    expect(isLate('acme', FREEZE, FREEZE)).toBe(false);
    expect(isLate('acme', FREEZE - 400, FREEZE)).toBe(false);
    ledger.away = true;
    expect(isLate('acme', FREEZE, LATER)).toBe(false);
    expect([ledger.asked, unjudged]).toEqual([0, []]);
    ledger.away = false;
    expect(await isLate('globex', FREEZE, FREEZE)).toBe(true);
  });

  it('that was asked about before it called here is known from its call on', async () => {
    const { ledger, isLate, saw } = open();
    ledger.began = FREEZE - 5_000;
    expect(await isLate('acme', FREEZE - 1_000, FREEZE - 900)).toBe(true);
    saw(FREEZE - 1);
    expect(isLate('acme', FREEZE, FREEZE)).toBe(false);
  });

  it('costs a request one question at most', async () => {
    const { ledger, isLate } = open();
    await isLate();
    expect(ledger.asked).toBe(1);
    ledger.away = true;
    await isLate('globex');
    expect(ledger.asked).toBe(2);
  });

  it('is asked about once by many requests at once', async () => {
    const { ledger, isLate } = open();
    ledger.seen.set('acme', FREEZE - 1);
    const answers = await Promise.all(Array.from({ length: 100 }, () => isLate()));
    expect(answers.every((late) => !late)).toBe(true);
    expect(ledger.asked).toBe(1);
  });
});

describe('nobody is late', () => {
  it('while the store is away, and it is not asked for every request', async () => {
    const { ledger, isLate, unjudged, pass } = open();
    ledger.away = true;
    expect(await isLate()).toBe(false);
    expect(await isLate('globex')).toBe(false);
    expect(ledger.asked).toBe(1);
    expect(unjudged).toEqual(['store_away', 'store_away']);
    ledger.away = false;
    pass(1_000);
    expect(await isLate()).toBe(true);
  });

  it.each([
    ['not yet', undefined],
    ['since the day itself', FREEZE],
    ['since later', FREEZE + 1],
  ])('where calls of the version are counted %s: nobody could be known', async (_title, began) => {
    const { ledger, isLate, unjudged, pass } = open();
    ledger.began = began;
    ledger.seen.set('acme', FREEZE + 5);
    expect([await isLate(), await isLate('globex')]).toEqual([false, false]);
    expect(unjudged).toEqual(['counted_since', 'counted_since']);
    ledger.began = FREEZE - 1;
    expect(await isLate()).toBe(false);
    pass(60_000);
    expect(await isLate()).toBe(true);
  });
});

it('knows no more consumers than it may: the longest unasked is asked about again', async () => {
  const { ledger, isLate } = open(2);
  for (const consumer of ['a', 'b', 'c']) ledger.seen.set(`${consumer}`, FREEZE - 1);
  await isLate('a');
  await isLate('b');
  expect(isLate('a')).toBe(false);
  await isLate('c');
  expect(isLate('a')).toBe(false);
  expect(isLate('b')).toBeInstanceOf(Promise);
  expect(ledger.asked).toBe(4);
});

it('lets an error that is no absence through', async () => {
  const broken = createAdoption(
    { firstSeen: async () => Promise.reject(new TypeError('broken')) },
    { now: () => 0, onUnjudged: () => undefined },
  );
  await expect(broken.isLate(acme, FREEZE, LATER)).rejects.toThrow('broken');
});
