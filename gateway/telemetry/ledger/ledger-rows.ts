// The rows of the metrics page about the ledger: what was counted, what waits for the store, what was lost.
// A part of metrics.ts; who called what is nobody's label.
import { counter, gauge, type MetricRow, single } from '../series.ts';
import type { LedgerSamples } from './ledger.ts';

export function ledgerRows({ counted, dropped, pending, flushes }: LedgerSamples): readonly MetricRow[] {
  return [
    counter('sundial_ledger_calls_total', 'Calls counted for the ledger.', [], () => single(counted())),
    counter(
      'sundial_ledger_calls_dropped_total',
      'Calls missing in the ledger because its store was away for too long.',
      [],
      () => single(dropped()),
    ),
    counter('sundial_ledger_flushes_total', 'Attempts to write what was counted.', ['result'], () =>
      Object.entries(flushes()).map(([result, count]) => [[result], count]),
    ),
    gauge(
      'sundial_ledger_pending_records',
      'Records counted that the store has not acknowledged.',
      [],
      () => single(pending()),
      'sum',
    ),
  ];
}
