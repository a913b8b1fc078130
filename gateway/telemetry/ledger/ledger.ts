// The ledger of this process: the tally that the observer feeds, and the jobs that write it to the store and sweep it.
import { randomUUID } from 'node:crypto';
import type { GatewayPlan } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import type { LedgerStore } from '../../policy/usage/ledger.ts';
import type { Logger } from '../logs/logger.ts';
import { counter, gauge, type MetricRow, single } from '../series.ts';
import { startFlushing, type UsageFlush } from './flush.ts';
import { type SweepOptions, startSweeping } from './sweep.ts';
import { createUsageTally, type UsageTally } from './tally.ts';
import { createWatch } from './watched.ts';

export interface UsageLedger extends Pick<UsageTally, 'record'> {
  /**
   * Starts to write to `store` every second. The result writes the rest: call it after the last request, before the
   * store closes.
   */
  readonly keepIn: (store: Pick<LedgerStore, 'add'>) => () => Promise<void>;
  /** Starts to delete expired records from `store` daily. The result stops that. */
  readonly forgetIn: (
    store: Pick<LedgerStore, 'sweep'>,
    kept: Pick<SweepOptions, 'keepDays' | 'wallClock'>,
  ) => () => Promise<void>;
  readonly samples: LedgerSamples;
}

export interface LedgerSamples {
  readonly counted: () => number;
  readonly dropped: () => number;
  readonly pending: () => number;
  readonly flushes: () => Readonly<Record<'success' | 'failure', number>>;
}

export interface UsageLedgerOptions {
  readonly plan: () => GatewayPlan;
  readonly now: () => EpochMs;
  readonly logger: Pick<Logger, 'info' | 'error'>;
  readonly recordEnded: () => void;
}

export function createUsageLedger({ plan, now, logger, recordEnded }: UsageLedgerOptions): UsageLedger {
  const tally = createUsageTally();
  const size = (): number => {
    recordEnded();
    return tally.size();
  };
  let flushing: UsageFlush | undefined;
  let unwritten = 0;
  return {
    record: tally.record,
    keepIn: (store) => {
      const flush = startFlushing({
        store,
        tally: { take: tally.take, size },
        writer: randomUUID(),
        now,
        watched: createWatch(plan),
        onFault: (error) => logger.error('writing the ledger failed', { error }),
      });
      flushing = flush;
      return async () => {
        unwritten = await flush.close();
        if (unwritten > 0)
          logger.error('calls are missing in the ledger: its store was unavailable at the end', {
            calls: unwritten,
          });
      };
    },
    forgetIn: (store, kept) =>
      startSweeping({
        ...kept,
        store,
        onSwept: (records) => logger.info('expired records of the ledger were deleted', { records }),
        onFault: (error) => logger.error('deleting expired records of the ledger failed', { error }),
      }).stop,
    samples: {
      counted: tally.counted,
      dropped: () => tally.dropped() + unwritten,
      pending: () => size() + (flushing?.onTheWay() ?? 0),
      flushes: () => flushing?.results() ?? { success: 0, failure: 0 },
    },
  };
}

export function ledgerRows({ counted, dropped, pending, flushes }: LedgerSamples): readonly MetricRow[] {
  return [
    counter('sundial_ledger_calls_total', 'Calls counted for the ledger.', [], () => single(counted())),
    counter(
      'sundial_ledger_calls_dropped_total',
      'Calls missing in the ledger because its store was unavailable for too long.',
      [],
      () => single(dropped()),
    ),
    counter('sundial_ledger_flushes_total', 'Writes of counted calls.', ['result'], () =>
      Object.entries(flushes()).map(([result, count]) => [[result], count]),
    ),
    gauge(
      'sundial_ledger_pending_records',
      'Records that the store has not acknowledged yet.',
      [],
      () => single(pending()),
      'sum',
    ),
  ];
}
