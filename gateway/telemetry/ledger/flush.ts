// Writes the tally to the store every second and at the end, in numbered batches that can be sent again.
import { setTimeout as pause } from 'node:timers/promises';
import { type EpochMs, StoreUnavailable } from '../../policy/contract.ts';
import {
  type LedgerStore,
  MAX_IN_BATCH,
  type UsageBatch,
  type UsageRecord,
  type UsageVersion,
} from '../../policy/usage/ledger.ts';
import type { UsageTally } from './tally.ts';

export interface FlushOptions {
  readonly store: Pick<LedgerStore, 'add'>;
  readonly tally: Pick<UsageTally, 'take' | 'size'>;
  readonly writer: string;
  readonly now: () => EpochMs;
  readonly watched: (now: EpochMs) => readonly UsageVersion[];
  /** Called with unexpected errors, not with outages of the store. */
  readonly onFault: (error: unknown) => void;
}

export interface UsageFlush {
  /** Writes all counted calls. Also resolves if the store is unavailable: the calls are kept. */
  readonly flush: () => Promise<void>;
  /** Flushes and retries for `withinMs` milliseconds. Returns the number of calls that were not written. */
  readonly close: (withinMs?: number) => Promise<number>;
  /** Records that were taken from the tally and not acknowledged. */
  readonly onTheWay: () => number;
  readonly results: () => Readonly<Record<'success' | 'failure', number>>;
}

const EVERY_MS = 1000;
/** Less than the time that a worker has to close after its drain. */
const LAST_WITHIN_MS = 1500;
const TRY_AGAIN_AFTER_MS = 100;
/** A store that was emptied in the meantime needs the list of watched versions again. */
const REPORT_AGAIN_MS = 600_000;

export function startFlushing({ store, tally, writer, now, watched, onFault }: FlushOptions): UsageFlush {
  const results = { success: 0, failure: 0 };
  let number = 0;
  let taken: Iterator<UsageRecord, undefined> | undefined;
  let left = 0;
  /** Not acknowledged. The store may have added it, so it is resent unchanged until the store acknowledges it. */
  let batch: UsageBatch | undefined;
  let reported: readonly UsageVersion[] = [];
  let reportedAt = 0;
  let flushing: Promise<void> | undefined;

  const nextBatch = (): UsageBatch | undefined => {
    const records = upTo(MAX_IN_BATCH, taken);
    if (records.length < MAX_IN_BATCH) taken = undefined;
    const at = now();
    const all = watched(at);
    const isReported = all === reported && Math.abs(at - reportedAt) < REPORT_AGAIN_MS;
    const unreported = isReported ? [] : all;
    if (records.length === 0 && unreported.length === 0) return undefined;
    number += 1;
    return { writer, number, at, watched: unreported, records };
  };
  const sendAll = async (): Promise<void> => {
    if (taken === undefined) {
      left += tally.size();
      taken = tally.take();
    }
    for (batch ??= nextBatch(); batch !== undefined; batch = nextBatch()) {
      await store.add(batch);
      left -= batch.records.length;
      if (batch.watched.length > 0) [reported, reportedAt] = [batch.watched, batch.at];
    }
  };
  const flush = (): Promise<void> => {
    flushing ??= sendAll()
      .then(() => {
        results.success += 1;
      })
      .catch((error: unknown) => {
        results.failure += 1;
        if (!(error instanceof StoreUnavailable)) onFault(error);
      })
      .finally(() => {
        flushing = undefined;
      });
    return flushing;
  };
  const timer = setInterval(() => void flush(), EVERY_MS);
  timer.unref();

  return {
    flush,
    close: async (withinMs = LAST_WITHIN_MS) => {
      clearInterval(timer);
      const end = performance.now() + withinMs;
      await flushing;
      await flush();
      while (batch !== undefined || tally.size() > 0) {
        if (performance.now() > end) break;
        await pause(TRY_AGAIN_AFTER_MS);
        await flush();
      }
      return callsIn([...(batch?.records ?? []), ...rest(taken), ...rest(tally.take())]);
    },
    onTheWay: () => left,
    results: () => results,
  };
}

function upTo(most: number, records: Iterator<UsageRecord, undefined> | undefined): UsageRecord[] {
  const found: UsageRecord[] = [];
  while (records !== undefined && found.length < most) {
    const { value } = records.next();
    if (value === undefined) break;
    found.push(value);
  }
  return found;
}

const rest = (records: Iterator<UsageRecord, undefined> | undefined): UsageRecord[] =>
  upTo(Number.POSITIVE_INFINITY, records);

function callsIn(records: readonly UsageRecord[]): number {
  return records
    .flatMap(({ callsByDay }) => Object.values(callsByDay))
    .reduce((sum, calls) => sum + calls, 0);
}
