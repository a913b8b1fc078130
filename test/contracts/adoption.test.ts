// The cache of when consumers were first seen: its calls to the ledger, and its answers during an outage.
import { describe, expect, it } from 'vitest';
import { type EpochMs, StoreUnavailable } from '../../gateway/policy/contract.ts';
import { createAdoption, type Unjudged } from '../../gateway/stores/adoption.ts';

const FREEZE = Date.UTC(2026, 5, 1);
/** The lifecycle time of the calls. */
const LATER = FREEZE + 3_600_000;
const acme = { consumer: 'acme', api: 'orders', version: 'v1' };

interface Ledger {
  readonly seen: Map<string, EpochMs>;
  began: EpochMs | undefined;
  away: boolean;
  calls: number;
}

function open(most?: number) {
  const ledger: Ledger = { seen: new Map(), began: FREEZE - 1, away: false, calls: 0 };
  const unjudged: Unjudged[] = [];
  let clock = 0;
  const answer = async <T>(value: () => T): Promise<T> => {
    ledger.calls += 1;
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
    ['seen before the freeze is not late', FREEZE - 1, false],
    ['first seen at the freeze is late', FREEZE, true],
    ['first seen after the freeze is late', FREEZE + 86_400_000, true],
    ['never seen is late', undefined, true],
  ])('%s', async (_title, at, late) => {
    const { ledger, isLate, unjudged } = open();
    if (at !== undefined) ledger.seen.set('acme', at);
    expect(await isLate()).toBe(late);
    expect(unjudged).toEqual([]);
  });

  it('seen before the freeze needs no second ledger call; an earlier freeze date needs one', async () => {
    const { ledger, isLate, pass } = open();
    ledger.seen.set('acme', FREEZE - 10);
    expect(await isLate()).toBe(false);
    pass(10 * 86_400_000);
    ledger.away = true;
    expect(isLate()).toBe(false);
    expect(ledger.calls).toBe(1);
    expect(await isLate('acme', FREEZE - 20)).toBe(false);
    expect(ledger.calls).toBe(2);
  });

  it('never seen is looked up again after 5 seconds, because other gateways flush later', async () => {
    const { ledger, isLate, pass } = open();
    expect(await isLate()).toBe(true);
    ledger.seen.set('acme', FREEZE - 1);
    expect(await isLate()).toBe(true);
    expect(ledger.calls).toBe(1);
    pass(5_000);
    expect(await isLate()).toBe(false);
  });

  it('just after the freeze is looked up again within 250 ms, because counts may arrive late', async () => {
    const { ledger, isLate, pass } = open();
    expect(await isLate('acme', FREEZE, FREEZE + 100)).toBe(true);
    ledger.seen.set('acme', FREEZE - 100);
    pass(250);
    expect(await isLate('acme', FREEZE, FREEZE + 350)).toBe(false);
  });

  it('that called this gateway before the freeze is not late, without a ledger call', async () => {
    const { ledger, isLate, saw, unjudged } = open();
    saw(FREEZE - 1);
    saw(FREEZE - 500);
    saw(FREEZE - 2);
    expect(isLate('acme', FREEZE, FREEZE)).toBe(false);
    expect(isLate('acme', FREEZE - 400, FREEZE)).toBe(false);
    ledger.away = true;
    expect(isLate('acme', FREEZE, LATER)).toBe(false);
    expect([ledger.calls, unjudged]).toEqual([0, []]);
    ledger.away = false;
    expect(await isLate('globex', FREEZE, FREEZE)).toBe(true);
  });

  it('that was looked up before it called this gateway is known from its call on', async () => {
    const { ledger, isLate, saw } = open();
    ledger.began = FREEZE - 5_000;
    expect(await isLate('acme', FREEZE - 1_000, FREEZE - 900)).toBe(true);
    saw(FREEZE - 1);
    expect(isLate('acme', FREEZE, FREEZE)).toBe(false);
  });

  it('causes at most one ledger call per request', async () => {
    const { ledger, isLate } = open();
    await isLate();
    expect(ledger.calls).toBe(1);
    ledger.away = true;
    await isLate('globex');
    expect(ledger.calls).toBe(2);
  });

  it('causes one ledger call for many concurrent requests', async () => {
    const { ledger, isLate } = open();
    ledger.seen.set('acme', FREEZE - 1);
    const answers = await Promise.all(Array.from({ length: 100 }, () => isLate()));
    expect(answers.every((late) => !late)).toBe(true);
    expect(ledger.calls).toBe(1);
  });
});

describe('no consumer is late', () => {
  it('while the store is unavailable, which is called at most once per second', async () => {
    const { ledger, isLate, unjudged, pass } = open();
    ledger.away = true;
    expect(await isLate()).toBe(false);
    expect(await isLate('globex')).toBe(false);
    expect(ledger.calls).toBe(1);
    expect(unjudged).toEqual(['store_away', 'store_away']);
    ledger.away = false;
    pass(1_000);
    expect(await isLate()).toBe(true);
  });

  it.each([
    ['has not begun', undefined],
    ['began at the freeze', FREEZE],
    ['began after the freeze', FREEZE + 1],
  ])('if the counting of calls %s, because earlier consumers are unknown', async (_title, began) => {
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

it('the cache evicts the least recently used consumer', async () => {
  const { ledger, isLate } = open(2);
  for (const consumer of ['a', 'b', 'c']) ledger.seen.set(`${consumer}`, FREEZE - 1);
  await isLate('a');
  await isLate('b');
  expect(isLate('a')).toBe(false);
  await isLate('c');
  expect(isLate('a')).toBe(false);
  expect(isLate('b')).toBeInstanceOf(Promise);
  expect(ledger.calls).toBe(4);
});

it('an error other than StoreUnavailable is passed on', async () => {
  const broken = createAdoption(
    { firstSeen: async () => Promise.reject(new TypeError('broken')) },
    { now: () => 0, onUnjudged: () => undefined },
  );
  await expect(broken.isLate(acme, FREEZE, LATER)).rejects.toThrow('broken');
});
