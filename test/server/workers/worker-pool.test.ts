// The worker pool with real processes that fail as in faulty-worker.ts: replacement and counters.
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Settings } from '../../../gateway/plan/settings.ts';
import { forkWorker, type WorkerProcess } from '../../../gateway/server/workers/fork.ts';
import { createWorkerPool, type WorkerPool } from '../../../gateway/server/workers/worker-pool.ts';
import type { MetricsSnapshot } from '../../../gateway/telemetry/snapshots.ts';

const ENTRY = new URL('./faulty-worker.ts', import.meta.url);
const WITHIN = { timeout: 15_000, interval: 20 };
let pool: WorkerPool;
let forked: WorkerProcess[] = [];
let logged: string[] = [];
let messages: string[] = [];

function poolOf(size: number, trouble: string, countEveryMs = 60_000): WorkerPool {
  forked = [];
  logged = [];
  messages = [];
  const log = (message: string) => void messages.push(message);
  pool = createWorkerPool({
    size,
    fork: (answers) => {
      const worker = forkWorker(ENTRY, answers, []);
      forked.push(worker);
      return worker;
    },
    answers: {},
    start: () => ({
      settings: {} as Settings,
      sockets: { https: undefined, http: undefined, stayOpen: false },
      pairs: undefined,
      clockOffset: undefined,
      workers: size,
      stores: trouble,
    }),
    order: orderOf('one'),
    pieces: () => [],
    relay: (lines) => void logged.push(lines),
    logger: { warn: log, error: log },
    drainWithinMs: 2_000,
    monotonic: () => performance.now(),
    countEveryMs,
  });
  return pool;
}
const orderOf = (revision: string) => ({ digests: [], revision });
const countOf = (snapshots: readonly MetricsSnapshot[]) =>
  snapshots.flat().flatMap(({ name, values }) => (name === 'seen' ? values.map(({ value }) => value) : []));

afterEach(() => pool.close());

describe('a worker pool', () => {
  it('replaces a worker that fails to load a plan, and keeps one that loads it', async () => {
    await poolOf(2, 'refuses two').listen();
    const [first, second] = forked;
    await pool.use(orderOf('two'));
    await vi.waitFor(() => expect(pool.serving()).toBe(2), WITHIN);
    expect(messages).toContain('a worker failed to load the plan');
    // The new workers start with the plan that the old workers failed to load.
    expect(forked).toHaveLength(4);
    expect(await Promise.all([first?.ended, second?.ended])).toEqual(['SIGKILL', 'SIGKILL']);
    await pool.use(orderOf('three'));
    expect(forked).toHaveLength(4);
    expect(pool.serving()).toBe(2);
  });

  it('replaces a worker after an uncaught error, which closes and exits with 1', async () => {
    await poolOf(1, 'none').listen();
    await pool.notify('throw');
    await vi.waitFor(() => expect(forked).toHaveLength(2), WITHIN);
    await vi.waitFor(() => expect(pool.serving()).toBe(1), WITHIN);
    expect(await forked[0]?.ended).toBe('exit code 1');
    expect(logged.join('')).toContain('uncaught: told to throw\n');
    expect(logged.join('')).toContain('closed\n');
  });

  it('keeps the counts of an ended worker', async () => {
    await poolOf(1, 'none').listen();
    expect(countOf(await pool.snapshots())).toEqual([1]);
    forked[0]?.kill();
    await vi.waitFor(() => expect(forked).toHaveLength(2), WITHIN);
    await vi.waitFor(() => expect(pool.serving()).toBe(1), WITHIN);
    expect(countOf(await pool.snapshots())).toEqual([1, 1]);
    forked[1]?.kill();
    await vi.waitFor(() => expect(forked).toHaveLength(3), WITHIN);
    await vi.waitFor(() => expect(pool.serving()).toBe(1), WITHIN);
    expect(countOf(await pool.snapshots())).toEqual([2, 1]);
  });

  it('keeps the counts of a worker that ends before a scrape', async () => {
    await poolOf(1, 'none', 10).listen();
    await vi.waitFor(() => expect(logged.join('')).toContain('looked at twice\n'), WITHIN);
    forked[0]?.kill();
    await vi.waitFor(() => expect(forked).toHaveLength(2), WITHIN);
    await vi.waitFor(() => expect(pool.serving()).toBe(1), WITHIN);
    expect(countOf(await pool.snapshots())).toEqual([1, 1]);
  });

  it('drains all workers, writes their last log lines, and does not replace them', async () => {
    await poolOf(2, 'none').listen();
    expect(await pool.drain()).toBe(true);
    expect(logged.filter((lines) => lines === 'closed\n')).toHaveLength(2);
    expect(pool.serving()).toBe(0);
    expect(forked).toHaveLength(2);
  });

  it('kills a worker that does not finish its drain', async () => {
    await poolOf(1, 'never closes').listen();
    expect(await pool.drain()).toBe(false);
    expect(await forked[0]?.ended).toBe('SIGKILL');
  });

  it('does not start if a worker reports why it cannot', async () => {
    await expect(poolOf(2, 'cannot start').listen()).rejects.toThrow('there is no such address');
  });
});
