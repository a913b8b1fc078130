// Measures `GET /-/usage` for 100,000 consumers: its cost and delays in a gateway and in its store.
import { setTimeout as pause } from 'node:timers/promises';
import { usageRoutes } from '../../gateway/admin/usage.ts';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import { dayNamed, dayNumberAt } from '../../gateway/policy/usage/day.ts';
import {
  type LedgerStore,
  MAX_IN_BATCH,
  type UsageBatch,
  type UsageRecord,
} from '../../gateway/policy/usage/ledger.ts';
import type { PersistentStores } from '../../gateway/stores/stores.ts';
import { cpuMicros } from '../bench/processor.ts';
import { NOW, plan } from '../support/exchange-samples.ts';
import { whileOthersAsk } from './others-turn.ts';

/** A record with all its days is much larger than in a flush, so batches are smaller. */
const DAYS_PER_BATCH = 3_000;
const NO_POLICIES = plan([]);
/** The longest event loop turn in CPU time, which other processes do not affect. */
const MAX_TURN_MS = 50;

export interface Kept {
  readonly api: string;
  readonly consumers: number;
  /** Each consumer has a call on each of these days. */
  readonly days: number;
}

async function fill(ledger: Pick<LedgerStore, 'add'>, { api, consumers, days }: Kept): Promise<void> {
  const today = dayNumberAt(NOW);
  const callsByDay = Object.fromEntries(
    Array.from({ length: days }, (_, index) => [dayNamed(today - index), 1 + index]),
  );
  const recordOf = (index: number): UsageRecord => ({
    ...{ consumer: `consumer-${index}`, via: 'token', api, version: 'v1', operation: undefined },
    ...{ firstAt: NOW - days * 86_400_000, lastAt: NOW, callsByDay },
    agents: ['some-client/1.2 (a usual length of it)'],
    sample: {
      method: 'GET',
      template: '/api/v1/orders/*',
      requestId: 'b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001',
    },
  });
  const most = Math.min(MAX_IN_BATCH, Math.ceil(DAYS_PER_BATCH / days));
  for (let start = 0, number = 1; start < consumers; start += most, number += 1) {
    const length = Math.min(most, consumers - start);
    const records = Array.from({ length }, (_, index) => recordOf(start + index));
    await keep(ledger, { writer: `filling ${api}`, number, at: NOW, watched: [], records });
  }
}

/** Retries a batch until the store accepts it. The store counts a batch once. */
async function keep(ledger: Pick<LedgerStore, 'add'>, batch: UsageBatch): Promise<void> {
  for (;;) {
    try {
      return await ledger.add(batch);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await pause(100);
    }
  }
}

export async function lookAtAll(
  name: string,
  stores: PersistentStores,
  server: number | undefined,
  kept: Kept,
  say: (line: string) => void,
): Promise<boolean> {
  await fill(stores.ledger, kept);
  // Garbage of the filling must not be collected during the measurement.
  globalThis.gc?.();
  const [route] = usageRoutes({
    plan: () => NO_POLICIES,
    now: () => NOW,
    monotonic: () => performance.now(),
    overrides: { current: () => [] },
    ledger: stores.ledger,
    recordsUsage: true,
    readiness: () => ({ store: { state: 'up' } }),
    keptFrom: () => undefined,
  });
  if (route?.method !== 'GET') throw new Error('the first route must be GET');
  const query = new URLSearchParams({ api: kept.api, since: `${kept.days - 1}d` });
  const before = server === undefined ? 0 : (cpuMicros(server) ?? 0);
  const asked = { parameter: () => '', query, accept: undefined, body: undefined };
  const { result, turnMs, waitMs, seconds, cpuSeconds } = await whileOthersAsk(stores.pins, async () =>
    route.show(asked),
  );
  const inServer = server === undefined ? 0 : ((cpuMicros(server) ?? 0) - before) / 1e6;
  if (result.status !== 200) {
    say(
      `BROKEN  a look at ${kept.consumers} consumers of ${kept.days} days, ${name}: ${result.status} after ${seconds.toFixed(1)} s: ${result.body}`,
    );
    return false;
  }
  const [found] = JSON.parse(result.body).versions;
  const calls = (kept.consumers * kept.days * (kept.days + 1)) / 2;
  const isKept = turnMs < MAX_TURN_MS && found?.consumers === kept.consumers && found.calls === calls;
  say(
    `${isKept ? 'kept  ' : 'BROKEN'}  a look at ${found?.consumers} consumers of ${kept.days} days, ${name}: ${seconds.toFixed(1)} s, ` +
      `${cpuSeconds.toFixed(1)} s of processor time${server === undefined ? '' : `, ${inServer.toFixed(1)} s in Redis`}; ` +
      `longest turn ${turnMs.toFixed(1)} ms of processor time; a concurrent store request took ${waitMs.toFixed(1)} ms at most`,
  );
  return isKept;
}
