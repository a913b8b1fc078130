// Creates the telemetry of a process: logs, metrics, traces, the ledger, and the observer that feeds them.
import type { Observer } from '../exchange/exchange.ts';
import type { GatewayPlan } from '../plan/plan.ts';
import type { Settings } from '../plan/settings.ts';
import type { EpochMs, MonotonicMs } from '../policy/contract.ts';
import type { Override } from '../policy/lifecycle/override.ts';
import { createExposition, type Exposition, type MetricsPage } from './exposition.ts';
import { createUsageLedger, type UsageLedger } from './ledger/ledger.ts';
import { createAccessLog } from './logs/access-log.ts';
import { createLogSink, type LogDestination } from './logs/log-sink.ts';
import { createLogger, type LevelledLogger } from './logs/logger.ts';
import { metricRows } from './metrics.ts';
import { type AnnouncementCounts, createAnnouncementCounts } from './reports/announcement-counts.ts';
import { type BoundsReport, createBoundsReport } from './reports/bounds-report.ts';
import { createFreezeCounts, type FreezeCounts } from './reports/freeze-counts.ts';
import { createProcessState, type ProcessState } from './reports/process-state.ts';
import { createRetirementGauge, type RetirementGauge } from './reports/retirement-gauge.ts';
import { createTargetMetrics, type TargetMetrics } from './reports/target-metrics.ts';
import { createEndedRequests } from './requests/ended-requests.ts';
import { createRequestMetrics } from './requests/request-metrics.ts';
import type { MetricsSnapshot } from './snapshots.ts';
import type { Spans } from './traces/spans.ts';
import { type BeginTrace, createTracing } from './traces/tracing.ts';

export interface TelemetryOptions {
  /** Only called at a scrape, so that the logger works before there is a plan. */
  readonly plan: () => GatewayPlan;
  readonly now: () => EpochMs;
  /** The pauses known to this process. Only called at a scrape. */
  readonly overrides: () => readonly Override[];
  readonly wallClock: () => EpochMs;
  /** Milliseconds, on the clock of `RequestStart.startedAt`. */
  readonly monotonic: () => MonotonicMs;
  readonly log: LogDestination;
  readonly settings: Pick<Settings, 'logLevel' | 'accessLog' | 'tracing'>;
  readonly spans?: Spans | undefined;
  /** Whether calls of deprecated versions are recorded. Default: true. */
  readonly recordsUsage?: boolean;
  /** The snapshots of the workers, called at a scrape. Undefined without workers. */
  readonly workers?: (() => Promise<readonly MetricsSnapshot[]>) | undefined;
  /** The version of Sundial, for a metric. */
  readonly version?: string | undefined;
}

export type Metrics = Pick<
  ProcessState,
  | 'storeUp'
  | 'reload'
  | 'quarantine'
  | 'certificate'
  | 'certificatesCurrent'
  | 'adminWrite'
  | 'countWebsockets'
  | 'countWorkers'
  | 'watchRestart'
> &
  Pick<TargetMetrics, 'watchTargets' | 'targetChanged'> &
  Pick<FreezeCounts, 'freezeUnjudged'> &
  Pick<RetirementGauge, 'retirementJudged'> &
  Pick<AnnouncementCounts, 'announced' | 'announces'> & {
    readonly render: (accept?: string) => Promise<MetricsPage>;
    readonly read: Exposition['read'];
    readonly snapshot: () => Promise<MetricsSnapshot>;
  };

export interface Telemetry {
  readonly observer: Observer;
  readonly beginTrace: BeginTrace;
  readonly logger: LevelledLogger;
  readonly metrics: Metrics;
  readonly bounds: BoundsReport;
  readonly ledger: UsageLedger | undefined;
  /** Writes complete lines of a worker to the own log. */
  readonly relay: (lines: string) => void;
  /** Writes buffered lines and spans. Later lines are counted as dropped. */
  readonly close: () => Promise<void>;
}

/** @throws the system's error if a log file cannot be opened */
export function createTelemetry({
  plan,
  now,
  overrides,
  wallClock,
  monotonic,
  log,
  settings,
  spans,
  recordsUsage = true,
  workers,
  version,
}: TelemetryOptions): Telemetry {
  const sink = createLogSink(log);
  const accessLog = createAccessLog(sink, settings.accessLog);
  const begin = createTracing(settings.tracing);
  const requests = createRequestMetrics();
  const state = createProcessState(wallClock, version);
  const bounds = createBoundsReport();
  const ended = createEndedRequests({
    wallClock,
    monotonic,
    spans,
    recordOne: (facts, outcome, at, durationMs) => {
      requests.record(facts, outcome, at, durationMs);
      accessLog.record(facts, outcome, at, durationMs);
      ledger?.record(facts, outcome);
    },
    flush: sink.flush,
  });
  const append = (line: string): void => {
    ended.record();
    sink.append(line);
  };
  const logger = createLogger({ level: settings.logLevel, sink: { append, flush: sink.flush }, wallClock });
  const ledger = recordsUsage
    ? createUsageLedger({ plan, now, logger, recordEnded: ended.record })
    : undefined;
  const targets = createTargetMetrics(wallClock);
  const freezes = createFreezeCounts();
  const retirements = createRetirementGauge();
  const announcements = createAnnouncementCounts();
  const exposition = createExposition(
    metricRows({
      requests,
      state,
      bounds,
      ledger: ledger?.samples,
      targets,
      freezes,
      retirements,
      announcements,
      plan,
      now,
      overrides,
      wallClock,
      logLinesDropped: sink.dropped,
    }),
    ended.record,
    workers,
  );
  return {
    observer: ended,
    beginTrace: spans === undefined ? begin : (headers) => spans.begin(headers) ?? begin(headers),
    logger,
    metrics: { ...state, ...targets, ...freezes, ...retirements, ...announcements, ...exposition },
    bounds,
    ledger,
    relay: sink.relay,
    close: async () => {
      ended.close();
      await Promise.all([spans?.flush(), sink.close()]);
    },
  };
}
