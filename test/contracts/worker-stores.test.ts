// The stores of two workers over one primary process: leased limits, cached pins and pauses.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Override } from '../../gateway/policy/lifecycle/override.ts';
import type { Limit } from '../../gateway/policy/rate-limit/limit.ts';
import type { Pin } from '../../gateway/policy/versioning/pin.ts';
import { openStores } from '../../gateway/stores/open-stores.ts';
import type { Stores } from '../../gateway/stores/stores.ts';
import type { StoreUpdate } from '../../gateway/stores/workers/store-messages.ts';
import {
  type AskPrimary,
  openWorkerStores,
  type WorkerStores,
} from '../../gateway/stores/workers/worker-stores.ts';
import { NOW } from '../support/exchange-samples.ts';
import { answerOf } from './idempotency-store.ts';
import { keyRecord } from './key-store.ts';
import { everyRecord, newWriter, usageOf } from './ledger-store.ts';
import { takeOne } from './rate-limit-store.ts';

const HOUR = 3_600_000;
const LIMIT: Limit = { name: 'default', units: 60, windowMs: HOUR, burst: 40 };
const KEY = { api: 'payments', account: 'acme' };
const PIN: Pin = { label: '2026-06-01', origin: 'first_call', since: 1, previous: undefined };
const PAUSE: Override = {
  ...{ kind: 'pause', id: 'p1', api: 'orders', label: 'v1' },
  ...{ author: 'ops', reason: 'incident', from: 0, until: 10 },
};

let folder = '';
let primary: Stores;
let workers: readonly WorkerStores[];
let calls: string[];
/** If set, calls to the primary reject with it. */
let silence: Promise<never> | undefined;
let now: number;

const everyone = async (news: StoreUpdate) => {
  for (const worker of workers) worker.applyUpdate(structuredClone(news));
};
/** Like IPC: copies its arguments, and answers asynchronously. */
const ask: AskPrimary = async (name, given) => {
  calls.push(name);
  const answer: (given: never) => unknown = primary.answers[name];
  return structuredClone(await (silence ?? answer(structuredClone(given) as never))) as never;
};

beforeEach(async () => {
  now = 0;
  calls = [];
  silence = undefined;
  workers = [];
  folder = await mkdtemp(join(tmpdir(), 'sundial-worker-stores-'));
  const shared = {
    store: { kind: 'embedded', folder },
    replicas: 1,
    monotonic: () => now,
    onState: () => undefined,
    onFault: (error: unknown) => expect.fail(String(error)),
  } as const;
  primary = await openStores({ ...shared, notifyWorkers: everyone });
  const open = () => openWorkerStores({ ...shared, ask, start: primary.start(), workers: 2 });
  workers = [await open(), await open()];
});
afterEach(async () => {
  await primary.close();
  await rm(folder, { recursive: true, force: true });
});

describe('the ledger of workers', () => {
  it('is written and read through the primary; a resent batch counts once', async () => {
    const [one, other] = workers;
    const batch = newWriter()([usageOf()], { watched: [{ api: 'orders', version: 'v1' }] });
    await one?.ledger.add(batch);
    await one?.ledger.add(batch);
    await other?.ledger.add(newWriter()([usageOf()]));
    expect(await everyRecord(primary.ledger)).toMatchObject([{ callsByDay: { '2026-11-20': 2 } }]);
    const page = { after: undefined, limit: 10 };
    expect(await other?.ledger.read({ consumer: 'acme', via: 'token' }, page)).toMatchObject({
      records: [{ consumer: 'acme' }],
    });
    expect(await other?.ledger.firstSeen(usageOf())).toEqual({ at: NOW, countedSince: NOW });
  });

  it('rejects with StoreUnavailable if the primary or its store does not answer', async () => {
    const batch = newWriter()([usageOf()]);
    silence = Promise.reject(new Error('the primary is stopped'));
    silence.catch(() => undefined);
    await expect(workers[0]?.ledger.add(batch)).rejects.toMatchObject({ code: 'store_unavailable' });
    silence = undefined;
    await primary.close();
    await expect(workers[0]?.ledger.add(batch)).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
const limiterOf = (index: number) => workers[index % 2]?.limiter ?? expect.fail('two workers');

describe('limits of workers', () => {
  it('RL-9, RL-10: 200 concurrent takes over two workers admit exactly the burst', async () => {
    const takes = Array.from({ length: 200 }, (_, index) =>
      takeOne(limiterOf(index), { key: 'k', limit: LIMIT, cost: 1 }),
    );
    const taken = await Promise.all(takes);
    expect(taken.filter((each) => each?.kind === 'counted' && each.allowed)).toHaveLength(40);
    expect(taken.filter((each) => each?.kind === 'counted')).toHaveLength(200);
  });

  it('RL-9: two workers that lease for a minute never admit more than burst + elapsed/T', async () => {
    const limit: Limit = { name: 'default', units: 6000, windowMs: 60_000, burst: 300 };
    let passed = 0;
    for (; now < 60_000; now += 5)
      for (const { limiter } of workers) {
        const quota = await takeOne(limiter, { key: 'k', limit, cost: 1 });
        if (quota.kind === 'counted' && quota.allowed) passed += 1;
        expect(passed).toBeLessThanOrEqual(300 + now / 10);
      }
    expect(passed).toBeGreaterThan(0.9 * 6300);
  });

  it('makes one call for many requests while the limit has many units left', async () => {
    const limit: Limit = { name: 'default', units: 60_000, windowMs: 60_000, burst: 60_000 };
    for (; now < 10_000; now += 2)
      for (const { limiter } of workers)
        expect(await takeOne(limiter, { key: 'k', limit, cost: 1 })).toMatchObject({ allowed: true });
    expect(calls.length).toBeLessThan(40);
  });

  it('`exact: true` calls for every request', async () => {
    for (let call = 0; call < 5; call += 1)
      await takeOne(limiterOf(0), { key: 'k', limit: LIMIT, cost: 1 }, { exact: true });
    expect(calls).toEqual(['take', 'take', 'take', 'take', 'take']);
  });

  it.each([false, true])(
    'RL-10: two limits over two workers are taken both or not at all, exact: %s',
    async (exact) => {
      const rule = { onStoreFailure: 'local', shadow: false, by: 'consumer', exact } as const;
      const smaller: Limit = { ...LIMIT, name: 'all', burst: 30 };
      const parts = [LIMIT, smaller].map((limit) => ({ key: `{k}:${limit.name}`, limit, cost: 1, rule }));
      const taken = await Promise.all(
        Array.from({ length: 100 }, (_, index) => limiterOf(index).take(parts)),
      );
      const passed = taken.filter((each) => each.every((quota) => quota.kind === 'counted' && quota.allowed));
      expect(passed).toHaveLength(30);
      if (exact) expect(new Set(calls)).toEqual(new Set(['takeAll']));
      const { remaining } = primary.answers.take({ key: '{k}:default', limit: LIMIT, cost: 1 });
      // A worker may have leased a unit although the other limit refused the request.
      expect(9 - remaining).toBeLessThanOrEqual(exact ? 0 : 2);
      expect(remaining).toBeLessThanOrEqual(9);
    },
  );

  it('RL-13: without an answer of the primary a worker applies its share of the limit', async () => {
    silence = Promise.reject(new Error('the primary is stopped'));
    silence.catch(() => undefined);
    const taken = await Promise.all(
      Array.from({ length: 50 }, () => takeOne(limiterOf(0), { key: 'k', limit: LIMIT, cost: 1 })),
    );
    expect(taken.filter((each) => each?.kind === 'degraded' && each.allowed)).toHaveLength(20);
    const guarded = await Promise.all(
      Array.from({ length: 50 }, () => workers[0]?.guard('192.0.2.1', LIMIT)),
    );
    expect(guarded.filter((each) => each?.allowed)).toHaveLength(20);
  });

  it('the guard is shared by all workers', async () => {
    const taken = await Promise.all(
      Array.from({ length: 100 }, (_, index) => workers[index % 2]?.guard('192.0.2.1', LIMIT)),
    );
    expect(taken.filter((each) => each?.allowed)).toHaveLength(40);
  });
});

describe('pins and pauses of workers', () => {
  it('a worker caches pins, and also that an account has no pin', async () => {
    const [first, second] = workers;
    expect(await first?.pins.find(KEY)).toBeUndefined();
    expect(first?.pins.find(KEY)).toBeUndefined();
    expect(await second?.pins.find(KEY)).toBeUndefined();
    expect(calls).toEqual(['findPin', 'findPin']);
    expect(await first?.pins.claim(KEY, PIN)).toEqual(PIN);
    expect(first?.pins.find(KEY)).toEqual(PIN);
    // The other worker is notified right after the answer.
    await new Promise((resolve) => setImmediate(resolve));
    expect(await second?.pins.find(KEY)).toEqual(PIN);
    expect(second?.pins.find(KEY)).toEqual(PIN);
    expect(await primary.pins.find(KEY)).toEqual(PIN);
    expect(calls).toEqual(['findPin', 'findPin', 'claimPin', 'findPin']);
  });

  it('two concurrent first calls get the same pin', async () => {
    const other = { ...PIN, label: '2024-09-01' };
    const [one, two] = await Promise.all([
      workers[0]?.pins.claim(KEY, PIN),
      workers[1]?.pins.claim(KEY, other),
    ]);
    expect(one).toEqual(two);
  });

  it('an API key is read once per worker, and a revocation applies in all once it resolves', async () => {
    const record = keyRecord();
    await primary.keys.replace(undefined, record);
    const found = () => Promise.all(workers.map(({ keys }) => keys.find(record.id)));
    for (let time = 0; time < 2; time += 1)
      expect(await found()).toEqual(workers.map(() => ({ kind: 'found', record })));
    expect(calls.filter((each) => each === 'findKey')).toHaveLength(workers.length);
    const revoked = { ...record, revoked: 2000 };
    await primary.keys.replace(record, revoked);
    expect(await found()).toEqual(workers.map(() => ({ kind: 'found', record: revoked })));
    silence = Promise.reject(new Error('the primary has ended'));
    silence.catch(() => undefined);
    expect(await found()).toEqual(workers.map(() => ({ kind: 'found', record: revoked })));
    expect(await workers[0]?.keys.find('000000000000')).toEqual({ kind: 'away' });
  });

  it('a pin moved by the primary has moved in every worker once the move resolves', async () => {
    await workers[0]?.pins.claim(KEY, PIN);
    for (const { pins } of workers) await pins.find(KEY);
    const moved = { ...PIN, label: '2026-12-01' };
    expect(await primary.pins.replace(KEY, PIN, moved)).toBe(true);
    for (const { pins } of workers) expect(await pins.find(KEY)).toEqual(moved);
  });

  it('IDM-5: one of two concurrent claims by workers gets the key, the other its answer', async () => {
    const [first, second] = workers.map(({ idempotency }) => idempotency);
    const asks = [first?.claim('key', 'a', HOUR), second?.claim('key', 'b', HOUR)];
    expect((await Promise.all(asks)).map((each) => each?.kind)).toEqual(['claimed', 'running']);
    expect(await second?.finish('key', 'b', answerOf(), HOUR)).toBe(false);
    expect(await first?.finish('key', 'a', answerOf(), HOUR)).toBe(true);
    expect(await second?.claim('key', 'b', HOUR)).toEqual({ kind: 'kept', answer: answerOf() });
    expect(await primary.idempotency.claim('key', 'c', HOUR)).toMatchObject({ kind: 'kept' });
    silence = Promise.reject(new Error('the primary has gone'));
    silence.catch(() => undefined);
    await expect(first?.claim('other', 'a', HOUR)).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('a stored pause applies in every worker, also in workers that start later', async () => {
    await primary.overrides.put(PAUSE);
    for (const { overrides } of workers) expect(overrides.current()).toEqual([PAUSE]);
    expect(primary.start()).toEqual({ overrides: [PAUSE] });
    await primary.overrides.remove(PAUSE.id);
    for (const { overrides } of workers) expect(overrides.current()).toEqual([]);
  });
});
