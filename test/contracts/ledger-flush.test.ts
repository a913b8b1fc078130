// Flushing the tally to a store that is unavailable or does not acknowledge: every call is counted once.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import type {
  LedgerStore,
  UsageBatch,
  UsageRecord,
  UsageVersion,
} from '../../gateway/policy/usage/ledger.ts';
import { type EmbeddedState, openEmbeddedState } from '../../gateway/stores/embedded/embedded-state.ts';
import { startFlushing, type UsageFlush } from '../../gateway/telemetry/ledger/flush.ts';
import { startSweeping } from '../../gateway/telemetry/ledger/sweep.ts';
import { createUsageTally, type UsageTally } from '../../gateway/telemetry/ledger/tally.ts';
import { deprecatedFacts, NOW } from '../support/exchange-samples.ts';
import { outcome } from '../telemetry/telemetry-harness.ts';
import { onFault } from './lasting-stores.ts';
import { everyRecord, newWriter, usageOf } from './ledger-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'sundial-flush-'));
let state: EmbeddedState;
let ledger: LedgerStore;
let tally: UsageTally;
let sent: UsageBatch[];
/** The fate of the next batches: taken, never sent, or taken and not acknowledged. */
let fate: 'taken' | 'lost' | 'unacknowledged';
let watched: readonly UsageVersion[];
let flushing: UsageFlush;
let writers = 0;
let now = NOW;

const away = () => Promise.reject(new StoreUnavailable('not today'));
const add = async (batch: UsageBatch): Promise<void> => {
  sent.push(batch);
  if (fate === 'lost') return away();
  await ledger.add(batch);
  if (fate === 'unacknowledged') return away();
};
const call = (id: string): void => {
  const named = { id, mayLabelMetrics: true, via: 'token', scopes: new Set<string>(), claims: {} } as const;
  tally.record(deprecatedFacts({ consumer: named }), outcome());
};
const callsOf = (records: readonly UsageRecord[]) =>
  Object.fromEntries(records.map(({ consumer, callsByDay }) => [consumer, callsByDay['2026-11-20']]));

beforeAll(async () => {
  state = await openEmbeddedState(folder, { onState: () => undefined, onFault });
  ({ ledger } = state);
});
afterAll(async () => {
  await state.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await ledger.sweep('9999-12-31');
  tally = createUsageTally();
  [sent, fate, watched, now] = [[], 'taken', [], NOW];
  writers += 1;
  flushing = startFlushing({
    store: { add },
    tally,
    writer: `w${writers}`,
    now: () => now,
    watched: () => watched,
    onFault,
  });
});

describe('a flush', () => {
  it('writes counted calls, and sends no batch if there are none', async () => {
    await flushing.flush();
    expect(sent).toEqual([]);
    for (const id of ['a', 'b', 'a']) call(id);
    await flushing.flush();
    call('a');
    await flushing.flush();
    await flushing.close();
    expect(callsOf(await everyRecord(ledger))).toEqual({ a: 3, b: 1 });
    expect(sent.map(({ number }) => number)).toEqual([1, 2]);
  });

  it('sends batches of a hundred', async () => {
    for (let index = 0; index < 1000; index += 1) call(`c${index}`);
    await flushing.flush();
    await flushing.close();
    expect(sent.map(({ records }) => records.length)).toEqual(Array(10).fill(100));
    expect(await everyRecord(ledger)).toHaveLength(1000);
  });

  it('sends the watched versions once, and again after a change', async () => {
    watched = [{ api: 'orders', version: 'v1' }];
    fate = 'lost';
    await flushing.flush();
    fate = 'taken';
    for (let round = 0; round < 3; round += 1) await flushing.flush();
    expect(sent.map((batch) => batch.watched.length)).toEqual([1, 1]);
    expect(await ledger.beganAt({ api: 'orders', version: 'v1' })).toBe(NOW);
    watched = [...watched, { api: 'orders', version: 'v2' }];
    await flushing.flush();
    now += 600_000;
    await flushing.flush();
    await flushing.close();
    expect(sent.map((batch) => batch.watched.length)).toEqual([1, 1, 2, 2]);
    expect(await ledger.beganAt({ api: 'orders', version: 'v2' })).toBe(NOW);
  });
});

describe('an unavailable store', () => {
  it('loses no call: a sent batch is resent unchanged, and new calls wait', async () => {
    for (const failing of ['lost', 'unacknowledged'] as const) {
      fate = failing;
      for (let round = 0; round < 3; round += 1) {
        for (let index = 0; index < 300; index += 1) call(`c${index}`);
        await flushing.flush();
      }
      expect(flushing.onTheWay() + tally.size()).toBe(600);
    }
    expect(flushing.results()).toEqual({ success: 0, failure: 6 });
    const [first] = sent;
    expect(sent.every((batch) => batch === first)).toBe(true);
    fate = 'taken';
    expect(await flushing.close()).toBe(0);
    expect(Object.values(callsOf(await everyRecord(ledger)))).toEqual(Array(300).fill(6));
    expect(flushing.onTheWay() + tally.size()).toBe(0);
  });

  it('delays close at most until its timeout, and close returns the number of lost calls', async () => {
    fate = 'lost';
    for (let index = 0; index < 300; index += 1) call(`c${index}`);
    const closing = flushing.close(0);
    call('late');
    expect(await closing).toBe(301);
  });
});

describe('the sweep', () => {
  it('deletes expired days once a day', async () => {
    const days = { '2026-11-17': 1, '2026-11-18': 1, '2026-11-20': 1 };
    const recent = usageOf({ consumer: 'recent', callsByDay: days });
    const old = usageOf({ consumer: 'old', callsByDay: { '2026-11-17': 1 } });
    await ledger.add(newWriter()([recent, old]));
    let sweepCalls = 0;
    const swept: number[] = [];
    const sweeping = startSweeping({
      store: {
        sweep: async (day) => {
          sweepCalls += 1;
          return sweepCalls === 1 ? away() : ledger.sweep(day);
        },
      },
      keepDays: 3,
      wallClock: () => now,
      onSwept: (removed) => swept.push(removed),
      onFault,
    });
    for (let look = 0; look < 4; look += 1) await sweeping.look();
    expect([sweepCalls, swept]).toEqual([2, [1]]);
    expect(await everyRecord(ledger)).toMatchObject([
      { consumer: 'recent', callsByDay: { '2026-11-18': 1, '2026-11-20': 1 } },
    ]);
    now += 86_400_000;
    await sweeping.look();
    await sweeping.stop();
    expect((await everyRecord(ledger))[0]?.callsByDay).toEqual({ '2026-11-20': 1 });
  });
});
