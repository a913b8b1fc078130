// A hundred thousand consumers of what is deprecated: what they cost in memory, and what a flush of them all does to a gateway
// and to its store. A part of run.ts, in this very process.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import { openEmbeddedState } from '../../gateway/stores/embedded/embedded-state.ts';
import { connectRedis } from '../../gateway/stores/redis/connect.ts';
import { openSharedState } from '../../gateway/stores/redis/shared-state.ts';
import type { LastingStores } from '../../gateway/stores/stores.ts';
import { MOST_IN_BATCH } from '../../gateway/policy/usage/ledger.ts';
import { startFlushing } from '../../gateway/telemetry/ledger/flush.ts';
import { createUsageTally, type UsageTally } from '../../gateway/telemetry/ledger/tally.ts';
import { deprecatedFacts, NOW } from '../support/exchange-samples.ts';
import { cpuMicros } from '../bench/processor.ts';
import { startRedis } from '../support/redis-server.ts';
import { outcome } from '../telemetry/telemetry-harness.ts';

const CONSUMERS = 100_000;
const MOST_TURN_MS = 50;
const MOST_MB = 100;

const fail = (error: unknown): never => {
  throw error;
};
const residentMb = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().rss / 2 ** 20;
};
const ended = outcome({ userAgent: 'some-client/1.2 (a usual length of it)' });

/** Facts whose consumer is another one each time, so that the facts themselves cost nothing. */
function callEveryone(tally: UsageTally, ids: readonly string[]): number {
  const rest = { named: true, via: 'token', scopes: new Set<string>(), claims: {} } as const;
  const facts: ExchangeFacts = deprecatedFacts();
  const begin = process.cpuUsage();
  for (const id of ids) {
    facts.consumer = { ...rest, id };
    tally.record(facts, ended);
  }
  const { user, system } = process.cpuUsage(begin);
  return ((user + system) * 1000) / ids.length;
}

/** The most processor time that one turn of this event loop takes, milliseconds: others' load on the machine is not in it. */
async function longestTurn(isOver: () => boolean): Promise<number> {
  let longest = 0;
  while (!isOver()) {
    const begin = process.threadCpuUsage();
    await setImmediate();
    const { user, system } = process.threadCpuUsage(begin);
    longest = Math.max(longest, (user + system) / 1000);
  }
  return longest;
}

async function flushInto(
  name: string,
  stores: LastingStores,
  server: number | undefined,
  say: (line: string) => void,
): Promise<boolean> {
  const tally = createUsageTally();
  const before = residentMb();
  const ids = Array.from({ length: CONSUMERS }, (_, index) => `consumer-${index}`);
  const first = callEveryone(tally, ids);
  const again = callEveryone(tally, ids);
  const grown = residentMb() - before;
  const flushing = startFlushing({
    store: stores.ledger,
    tally,
    writer: name,
    now: () => NOW,
    watched: () => [],
    onFault: fail,
  });
  let longestWait = 0;
  let over = false;
  const others = (async () => {
    for (; !over; await setTimeout(5)) {
      const begin = performance.now();
      await stores.pins.find({ api: 'payments', account: `account-${begin}` });
      longestWait = Math.max(longestWait, performance.now() - begin);
    }
  })();
  const turns = longestTurn(() => over);
  const serverCpu = server === undefined ? undefined : cpuMicros(server);
  const cpu = process.cpuUsage();
  const begin = performance.now();
  await flushing.flush();
  const seconds = (performance.now() - begin) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const inServer = server === undefined ? undefined : (cpuMicros(server) ?? 0) - (serverCpu ?? 0);
  over = true;
  await others;
  const turn = await turns;
  await flushing.close();
  const isKept = turn < MOST_TURN_MS && grown < MOST_MB && tally.dropped() === 0 && flushing.results().failure === 0;
  say(
    `${isKept ? 'kept  ' : 'BROKEN'}  ${CONSUMERS} consumers, ${name}: ${grown.toFixed(0)} MB more resident memory; ` +
      `a call ${again.toFixed(0)} ns of processor time, a first one ${first.toFixed(0)} ns; flush ${seconds.toFixed(1)} s ` +
      `(${((user + system) / 1e6).toFixed(1)} s processor), longest turn ${turn.toFixed(1)} ms of processor time; ` +
      (inServer === undefined ? '' : `Redis ${((inServer * MOST_IN_BATCH) / CONSUMERS / 1000).toFixed(2)} ms a batch; `) +
      `another's answer from the store took ${longestWait.toFixed(1)} ms at most`,
  );
  return isKept;
}

export async function manyConsumers(say: (line: string) => void): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const redis = stack.adopt(await startRedis(), (server) => server.stop());
  const connection = await connectRedis(redis.url, { onState: () => undefined, answerWithinMs: 5000 });
  const shared = await openSharedState(connection, { onFault: fail });
  stack.defer(shared.close);
  const folder = await mkdtemp(join(tmpdir(), 'sundial-ledger-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const embedded = await openEmbeddedState(folder, { onState: () => undefined, onFault: fail });
  stack.defer(embedded.close);
  const results = [await flushInto('Redis', shared, redis.pid, say),
    await flushInto('embedded', embedded, undefined, say),
  ];
  return results.every(Boolean);
}
