// Measures a ledger of 100,000 consumers: memory, and the cost of a flush for the gateway and its store.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import { MAX_IN_BATCH } from '../../gateway/policy/usage/ledger.ts';
import { type EmbeddedState, openEmbeddedState } from '../../gateway/stores/embedded/embedded-state.ts';
import { connectRedis } from '../../gateway/stores/redis/connect.ts';
import { openSharedState } from '../../gateway/stores/redis/shared-state.ts';
import type { PersistentStores } from '../../gateway/stores/stores.ts';
import { startFlushing } from '../../gateway/telemetry/ledger/flush.ts';
import { createUsageTally, type UsageTally } from '../../gateway/telemetry/ledger/tally.ts';
import { cpuMicros } from '../bench/processor.ts';
import { deprecatedFacts, NOW } from '../support/exchange-samples.ts';
import { startRedis } from '../support/redis-server.ts';
import { outcome } from '../telemetry/telemetry-harness.ts';
import { whileOthersAsk } from './others-turn.ts';
import { lookAtAll } from './whole-look.ts';

const CONSUMERS = 100_000;
const MAX_TURN_MS = 50;
const MAX_MB = 100;
const MAX_BACKUP_TURN_MS = 20;
const PIN = { label: 'v1', origin: 'first_call', since: 0, previous: undefined } as const;

const fail = (error: unknown): never => {
  throw error;
};
const residentMb = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().rss / 2 ** 20;
};
const ended = outcome({ userAgent: 'some-client/1.2 (a usual length of it)' });

/** Records a call of each consumer with the same facts. Returns nanoseconds per call. */
function callEveryone(tally: UsageTally, ids: readonly string[]): number {
  const rest = { mayLabelMetrics: true, via: 'token', scopes: new Set<string>(), claims: {} } as const;
  const facts: ExchangeFacts = deprecatedFacts();
  const { decision } = facts;
  const begin = process.cpuUsage();
  for (const id of ids) {
    facts.decision = { ...decision, consumer: { ...rest, id } };
    tally.record(facts, ended);
  }
  const { user, system } = process.cpuUsage(begin);
  return ((user + system) * 1000) / ids.length;
}

async function flushInto(
  name: string,
  stores: PersistentStores,
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
  const serverCpu = server === undefined ? undefined : cpuMicros(server);
  const { turnMs, waitMs, seconds, cpuSeconds } = await whileOthersAsk(stores.pins, flushing.flush);
  const inServer = server === undefined ? undefined : (cpuMicros(server) ?? 0) - (serverCpu ?? 0);
  await flushing.close();
  const isKept =
    turnMs < MAX_TURN_MS && grown < MAX_MB && tally.dropped() === 0 && flushing.results().failure === 0;
  say(
    `${isKept ? 'kept  ' : 'BROKEN'}  ${CONSUMERS} consumers, ${name}: ${grown.toFixed(0)} MB more resident memory; ` +
      `a call ${again.toFixed(0)} ns of processor time, a first one ${first.toFixed(0)} ns; flush ${seconds.toFixed(1)} s ` +
      `(${cpuSeconds.toFixed(1)} s processor), longest turn ${turnMs.toFixed(1)} ms of processor time; ` +
      (inServer === undefined
        ? ''
        : `Redis ${((inServer * MAX_IN_BATCH) / CONSUMERS / 1000).toFixed(2)} ms a batch; `) +
      `a concurrent store request took ${waitMs.toFixed(1)} ms at most`,
  );
  return isKept;
}

/** Makes a backup while pins are claimed: it has all earlier records, and claims do not wait long. */
async function backUp(state: EmbeddedState, say: (line: string) => void): Promise<boolean> {
  let claims = 0;
  let isOver = false;
  const claiming = (async () => {
    for (; !isOver; claims += 1)
      await state.pins.claim({ api: 'payments', account: `during-${claims}` }, PIN);
  })();
  const { result, turnMs, waitMs, seconds } = await whileOthersAsk(state.pins, () => state.backup(NOW));
  isOver = true;
  await claiming;
  using copy = new DatabaseSync(result.file, { readOnly: true });
  const { records } =
    copy.prepare("SELECT count(*) AS records FROM usage WHERE consumer LIKE 'consumer-%'").get() ?? {};
  const { whole } = copy.prepare('SELECT integrity_check AS whole FROM pragma_integrity_check').get() ?? {};
  const isKept = whole === 'ok' && Number(records) >= CONSUMERS && turnMs < MAX_BACKUP_TURN_MS;
  say(
    `${isKept ? 'kept  ' : 'BROKEN'}  a backup of ${records} records, ${(result.bytes / 2 ** 20).toFixed(1)} MB, in ` +
      `${seconds.toFixed(2)} s beside ${claims} writes: ${whole}; longest turn ${turnMs.toFixed(1)} ms of processor time; ` +
      `a concurrent store request took ${waitMs.toFixed(1)} ms at most`,
  );
  return isKept;
}

/** Reads many consumers with 30 days each, and fewer with 400 days each. */
async function looksAt(
  name: string,
  stores: PersistentStores,
  server: number | undefined,
  say: (line: string) => void,
): Promise<readonly boolean[]> {
  const many = { api: 'many', consumers: CONSUMERS, days: 30 };
  const long = { api: 'long', consumers: 3_000, days: 400 };
  return [await lookAtAll(name, stores, server, many, say), await lookAtAll(name, stores, server, long, say)];
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
  const results = [
    await flushInto('Redis', shared, redis.pid, say),
    await flushInto('embedded', embedded, undefined, say),
    await backUp(embedded, say),
    ...(await looksAt('Redis', shared, redis.pid, say)),
    ...(await looksAt('embedded', embedded, undefined, say)),
  ];
  return results.every(Boolean);
}
