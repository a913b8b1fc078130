// The observer: what happens when an answer has ended. The last step of every exchange, refused and aborted ones too.
// Reads the clocks once, so that log line and metrics agree.
import type { Observer } from '../exchange/exchange.ts';
import type { EpochMs, MonotonicMs } from '../policy/contract.ts';
import type { AccessLog } from './access-log.ts';
import type { UsageLedger } from './ledger/ledger.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { Spans } from './spans.ts';

export interface ObserverParts {
  readonly metrics: Pick<RequestMetrics, 'record'>;
  readonly accessLog: AccessLog;
  readonly spans: Pick<Spans, 'end'> | undefined;
  /** Undefined where nobody's calls are recorded. */
  readonly ledger: Pick<UsageLedger, 'record'> | undefined;
  readonly wallClock: () => EpochMs;
  /** The monotonic clock that `RequestStart.startedAt` was read from, milliseconds. */
  readonly monotonic: () => MonotonicMs;
}

export function createObserver({
  metrics,
  accessLog,
  ledger,
  spans,
  wallClock,
  monotonic,
}: ObserverParts): Observer {
  return {
    onAnswer: (facts, outcome) => {
      const at = wallClock();
      const durationMs = Math.max(0, monotonic() - facts.start.startedAt);
      metrics.record(facts, outcome, at, durationMs);
      accessLog.record(facts, outcome, at, durationMs);
      spans?.end(facts, outcome);
      ledger?.record(facts, outcome);
    },
  };
}
