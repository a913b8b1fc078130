// A real Redis that stalls, dies and comes back under load: answers within the deadline, and recovery.
import { errorMonitor, once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import type { Quota, RateLimiter } from '../../gateway/policy/rate-limit/limit.ts';
import { createEmbeddedRateLimitStore } from '../../gateway/stores/embedded/rate-limit.ts';
import { createLeasingStore } from '../../gateway/stores/leases.ts';
import { createRateLimiter } from '../../gateway/stores/rate-limiter.ts';
import { loadClients } from '../../gateway/stores/redis/client.ts';
import { connectRedis } from '../../gateway/stores/redis/connect.ts';
import { openLink } from '../../gateway/stores/redis/link.ts';
import { createRedisRateLimitStore } from '../../gateway/stores/redis/rate-limit.ts';
import { redisAddress } from '../../gateway/stores/redis-address.ts';
import { makeKeyPair } from '../support/key-pairs.ts';
import { freePorts } from '../support/ports.ts';
import { startRedis } from '../support/redis-server.ts';
import { threadMs } from '../support/thread-time.ts';
import { limitOf, takeOne } from './rate-limit-store.ts';

/** The deadline of RL-13. */
const ANSWER_MS = 50;
/** CPU time of this thread for a hundred answers. */
const MAX_WORK_MS = 250;
const rules = { onStoreFailure: 'local', exact: true } as const;
const patient = { timeout: 10_000, interval: 20 };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function gatewayWithRedis() {
  const redis = await startRedis();
  cleanups.push(redis.stop);
  const connected: boolean[] = [];
  const now = (): number => performance.now();
  const connection = await connectRedis(redis.url, { onState: (up) => connected.push(up) });
  cleanups.push(connection.close);
  const exact = createRedisRateLimitStore(connection);
  const limiter = createRateLimiter({
    shared: createLeasingStore(exact, { now }),
    exact,
    local: createEmbeddedRateLimitStore({ now }),
    replicas: 2,
  });
  return { redis, connection, limiter, connected };
}

const limit = limitOf(10, 3_600_000);

interface Timed {
  readonly quota: Quota;
  readonly late: boolean;
}

/** An answer is late if it comes after a timer of ANSWER_MS. A busy machine delays both. */
async function timed(limiter: RateLimiter, key = 'k'): Promise<Timed> {
  const taking = takeOne(limiter, { key, limit, cost: 1 }, rules);
  let late = false;
  // Node runs timers of the same length together: a timer set between two takes could fire too early.
  await undefined;
  const timer = setTimeout(async () => {
    // The deadline of an answer also reads first what has arrived.
    await setImmediate();
    late = true;
  }, ANSWER_MS);
  const quota = await taking;
  clearTimeout(timer);
  return { quota, late };
}

/** A TCP proxy to Redis. While `held` is set, answers wait; `spoil` changes the next answer. */
async function delayable(target: number) {
  const state = {
    held: false,
    waiting: [] as (() => void)[],
    spoil: undefined as ((answer: Buffer) => Buffer) | undefined,
  };
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    cleanups.push(
      () => upstream.destroy(),
      () => client.destroy(),
    );
    client.pipe(upstream);
    upstream.on('data', (bytes: Buffer) => {
      const passed = state.spoil?.(bytes) ?? bytes;
      state.spoil = undefined;
      const pass = () => void client.write(passed);
      if (state.held) state.waiting.push(pass);
      else pass();
    });
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanups.push(() => server.close());
  const address = server.address();
  const release = () => {
    state.held = false;
    for (const pass of state.waiting.splice(0)) pass();
  };
  return { port: typeof address === 'object' ? (address?.port ?? 0) : 0, state, release };
}

describe('limits while Redis fails', () => {
  it('a single late answer affects only its own request', async () => {
    const redis = await startRedis();
    cleanups.push(redis.stop);
    const line = await delayable(redis.port);
    const states: boolean[] = [];
    const connection = await connectRedis(`redis://127.0.0.1:${line.port}`, {
      onState: (up) => states.push(up),
    });
    cleanups.push(connection.close);
    const store = createRedisRateLimitStore(connection);
    const take = { key: 'k', limit, cost: 1 };
    await vi.waitFor(() => store.take(take), patient);

    line.state.held = true;
    // With fake timers only the deadline of the held answer passes, even if Redis is busy.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    cleanups.push(() => vi.useRealTimers());
    const late = store.take(take);
    vi.advanceTimersByTime(ANSWER_MS);
    await expect(late).rejects.toMatchObject({ code: 'store_unavailable' });
    line.release();
    expect(await store.take(take)).toMatchObject({ allowed: true });
    expect(states).toEqual([true]);
  });

  it.each([
    ['is lost', () => Buffer.of()],
    ['has no end', () => Buffer.from('$99999999999\r\n')],
  ])('after a reply that %s, later replies match their requests again', async (_how, spoil) => {
    const line = await delayable(Number(new URL(inject('redisUrl')).port));
    const connection = await connectRedis(`redis://127.0.0.1:${line.port}`, { onState: () => undefined });
    cleanups.push(connection.close);
    const echo = connection.script('sundialTestEcho', 'return ARGV[1]', 1);
    await vi.waitFor(async () => expect(await echo('k', 'warm')).toBe('warm'), patient);
    line.state.spoil = spoil;
    await echo('k', 'spoilt').catch(() => undefined);
    let calls = 0;
    await vi.waitFor(async () => {
      for (const _ of [1, 2, 3]) {
        calls += 1;
        expect(await echo('k', calls)).toBe(String(calls));
      }
    }, patient);
  });

  it.each([
    ['is lost', (bytes: Buffer) => bytes.subarray(bytes.indexOf('$', 1))],
    ['comes twice', (bytes: Buffer) => Buffer.concat([bytes.subarray(0, bytes.indexOf('$', 1)), bytes])],
    ['is preceded by an unsolicited reply', (bytes: Buffer) => Buffer.concat([Buffer.from(':1\r\n'), bytes])],
    ['is followed by empty replies', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('_\r\n$-1\r\n')])],
  ])('no request gets the reply of another request if a reply %s', async (_how, spoil) => {
    const line = await delayable(Number(new URL(inject('redisUrl')).port));
    const connection = await connectRedis(`redis://127.0.0.1:${line.port}`, { onState: () => undefined });
    cleanups.push(connection.close);
    const echo = connection.script('sundialTestEcho', 'return ARGV[1]', 1);
    await vi.waitFor(async () => expect(await echo('k', 'warm')).toBe('warm'), patient);
    line.state.spoil = spoil;
    const wrong: unknown[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      const sent = [1, 2, 3].map((each) => `${turn} ${each}`);
      const replies = await Promise.allSettled(sent.map((each) => echo('k', each)));
      for (const [index, each] of replies.entries())
        if (each.status === 'fulfilled' && each.value !== sent[index]) wrong.push(each.value);
    }
    expect(wrong).toEqual([]);
    await vi.waitFor(async () => expect(await echo('k', 'again')).toBe('again'), patient);
  });

  it('Redis is unavailable after several late answers in a row', async () => {
    const { redis, connection, limiter } = await gatewayWithRedis();
    await vi.waitFor(async () => expect((await timed(limiter)).quota.kind).toBe('counted'), patient);
    redis.pause();
    for (let i = 0; i < 3; i++) expect((await timed(limiter)).quota.kind).toBe('degraded');
    expect(connection.ready).toBe(false);
    redis.resume();
  });

  it('RL-13: while Redis stalls the local share answers in time, and counting resumes later', async () => {
    const { redis, limiter, connected } = await gatewayWithRedis();
    await vi.waitFor(async () => expect((await timed(limiter)).quota.kind).toBe('counted'), patient);
    const before = connected.length;

    redis.pause();
    const first = await timed(limiter);
    expect(first.quota).toMatchObject({ kind: 'degraded', allowed: true });
    expect(first.late).toBe(false);
    const rest = await Promise.all(Array.from({ length: 50 }, () => timed(limiter)));
    expect(rest.filter(({ quota }) => quota.kind === 'degraded')).toHaveLength(50);
    expect(rest.filter(({ late }) => late)).toEqual([]);
    // Two gateways share ten units: five here, one of them used before.
    expect(rest.filter(({ quota }) => quota.kind === 'degraded' && quota.allowed)).toHaveLength(4);

    redis.resume();
    await vi.waitFor(async () => expect((await timed(limiter, 'other')).quota.kind).toBe('counted'), patient);
    expect(connected.slice(before)[0]).toBe(false);
    expect(connected.at(-1)).toBe(true);
  });

  it('RL-13: concurrent takes on a stalled Redis are all answered in time', async () => {
    const { redis, limiter } = await gatewayWithRedis();
    redis.pause();
    const before = threadMs();
    const waiting = await Promise.all(Array.from({ length: 100 }, (_, i) => timed(limiter, `k${i}`)));
    expect(waiting.every(({ quota }) => quota.kind === 'degraded')).toBe(true);
    expect(waiting.filter(({ late }) => late)).toEqual([]);
    expect(threadMs() - before).toBeLessThan(MAX_WORK_MS);
  });

  it('RL-13: takes on a killed Redis are answered at once; a new server on its port is used', async () => {
    const { redis, limiter, connection, connected } = await gatewayWithRedis();
    await redis.stop();
    await vi.waitFor(() => expect(connection.ready).toBe(false), patient);
    const down = await timed(limiter);
    expect(down.quota).toMatchObject({ kind: 'degraded', allowed: true });
    expect(down.late).toBe(false);

    const again = await startRedis({ port: redis.port });
    cleanups.push(again.stop);
    await vi.waitFor(async () => expect((await timed(limiter)).quota.kind).toBe('counted'), patient);
    expect(connected[0]).toBe(true);
    expect(connected).toContain(false);
    expect(connected.at(-1)).toBe(true);
    expect(connection.problem).toBeUndefined();
  });

  it('RL-13: a Redis that was not running at start is used once it runs', async () => {
    const gone = await startRedis();
    await gone.stop();
    const connection = await connectRedis(gone.url, { onState: () => undefined });
    cleanups.push(connection.close);
    expect(connection.ready).toBe(false);
    cleanups.push((await startRedis({ port: gone.port })).stop);
    await vi.waitFor(() => expect(connection.ready).toBe(true), patient);
  });

  it('a close during a TLS handshake with an untrusted certificate does not end the process', async () => {
    const { cert, key } = await makeKeyPair({ names: ['redis.example'] });
    const folder = await mkdtemp(join(tmpdir(), 'sundial-tls-'));
    cleanups.push(() => rm(folder, { recursive: true }));
    const [certFile, keyFile] = [join(folder, 'redis.crt'), join(folder, 'redis.key')];
    await writeFile(certFile, cert);
    await writeFile(keyFile, key);
    const [port = 0] = await freePorts(1);
    const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certFile];
    const more = ['--tls-port', String(port), '--tls-auth-clients', 'no', ...files];
    cleanups.push((await startRedis({ more })).stop);
    const address = redisAddress(`rediss://127.0.0.1:${port}`);
    if (address?.kind !== 'single') throw new Error('no address');
    const clients = await loadClients();
    const uncaught: unknown[] = [];
    const note = (error: unknown) => uncaught.push(error);
    process.on('uncaughtException', note);
    cleanups.push(() => process.off('uncaughtException', note));

    // One error is about the certificate, one comes from the server. ioredis listens for one of them.
    await vi.waitFor(async () => {
      const client = clients.primary(address);
      const reports = { onState: () => undefined, onRefused: () => undefined };
      const link = openLink(client, { ...reports, answerWithinMs: 30, writeKey: () => 'k' });
      await setImmediate();
      const seen: unknown[] = [];
      // errorMonitor observes errors without being a listener for them.
      client.stream.on(errorMonitor, (error) => seen.push(error));
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      client.stream.once('close', () => resolve());
      link.close();
      await closed;
      await setImmediate();
      expect(seen).toHaveLength(2);
    }, patient);
    expect(uncaught).toEqual([]);
  });

  it('RL-13: a connection to a stalled Redis is closed and replaced', async () => {
    const { redis, limiter, connection } = await gatewayWithRedis();
    redis.pause();
    await timed(limiter);
    await vi.waitFor(() => expect(connection.problem).toBe('connection closed'), patient);
    redis.resume();
    await vi.waitFor(() => expect(connection.ready).toBe(true), patient);
  });
});
