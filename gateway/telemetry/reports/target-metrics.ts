// The targets of upstreams: which are in service or fail, how often each was ejected, and a log line per change.
import type { TargetChange, TargetHealth } from '../../exchange/version-states.ts';
import type { EpochMs } from '../../policy/contract.ts';
import type { Logger } from '../logs/logger.ts';
import { FAULT_OUTCOMES } from '../requests/request-labels.ts';
import { counter, gauge, type MetricRow, type Sample } from '../series.ts';

export interface TargetMetrics {
  readonly watchTargets: (targets: () => Iterable<TargetHealth>) => void;
  readonly targetChanged: (change: TargetChange) => void;
  readonly up: () => Iterable<Sample>;
  readonly ejections: () => Iterable<Sample>;
  readonly recentCalls: () => Iterable<Sample>;
  readonly failingSince: () => Iterable<Sample>;
  readonly lastFailures: () => Iterable<Sample>;
}

const REASONS = ['health', 'breaker'] as const satisfies readonly TargetChange['by'][];

export function createTargetMetrics(wallClock: () => EpochMs): TargetMetrics {
  const counts = new Map<string, number>();
  let targets: () => Iterable<TargetHealth> = () => [];
  const secondsAt = (agoMs: number): number => Math.round((wallClock() - agoMs) / 1000);
  const keyOf = (
    { upstream, target }: Pick<TargetHealth, 'upstream' | 'target'>,
    by: TargetChange['by'],
  ): string => `${upstream} ${target} ${by}`;
  return {
    watchTargets: (source) => {
      targets = source;
    },
    targetChanged: (change) => {
      if (change.up) return;
      const key = keyOf(change, change.by);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    *up() {
      for (const { upstream, target, up } of targets())
        if (up !== undefined) yield [[upstream, target], up ? 1 : 0];
    },
    *ejections() {
      for (const each of targets()) {
        if (each.up === undefined) continue;
        for (const reason of REASONS)
          yield [[each.upstream, each.target, reason], counts.get(keyOf(each, reason)) ?? 0];
      }
    },
    *recentCalls() {
      for (const { upstream, target, recent } of targets()) {
        yield [[upstream, target, 'success'], recent.answered];
        yield [[upstream, target, 'failure'], recent.failed];
      }
    },
    *failingSince() {
      for (const { upstream, target, recent } of targets())
        if (recent.failingMs !== undefined) yield [[upstream, target], secondsAt(recent.failingMs)];
    },
    *lastFailures() {
      for (const { upstream, target, recent } of targets()) {
        const error = recent.last && FAULT_OUTCOMES[recent.last.error];
        if (error !== undefined) yield [[upstream, target, error], secondsAt(recent.last?.agoMs ?? 0)];
      }
    },
  };
}

export function targetRows({
  up,
  ejections,
  recentCalls,
  failingSince,
  lastFailures,
}: TargetMetrics): readonly MetricRow[] {
  return [
    gauge(
      'sundial_upstream_up',
      'Whether a target with health checks or a circuit breaker is in service: 1 or 0.',
      ['upstream', 'target'],
      up,
      'min',
    ),
    counter(
      'sundial_upstream_ejections_total',
      'Times that a target was taken out of service, by reason.',
      ['upstream', 'target', 'reason'],
      ejections,
    ),
    gauge(
      'sundial_upstream_recent_calls',
      'Calls to a target that ended in the last 60 seconds, by result.',
      ['upstream', 'target', 'result'],
      recentCalls,
      'sum',
    ),
    gauge(
      'sundial_upstream_failing_since_timestamp_seconds',
      'Time since which at least half of the recent calls to a target have failed.',
      ['upstream', 'target'],
      failingSince,
      'min',
    ),
    gauge(
      'sundial_upstream_last_failure_timestamp_seconds',
      'Time of the last failed call to a target, by its error.',
      ['upstream', 'target', 'error'],
      lastFailures,
    ),
  ];
}

export function createTargetReport({
  logger,
  metrics,
}: {
  readonly logger: Logger;
  readonly metrics: Pick<TargetMetrics, 'targetChanged'>;
}): TargetMetrics['targetChanged'] {
  return (change) => {
    metrics.targetChanged(change);
    const { upstream, target, up, by, why } = change;
    const fields = { upstream, target, reason: why };
    const message = MESSAGES[by];
    if (up) logger.info(message.up, fields);
    else logger.warn(message.down, fields);
  };
}

const MESSAGES: Readonly<Record<TargetChange['by'], Readonly<Record<'up' | 'down', string>>>> = {
  health: { up: 'a target passes its health checks again', down: 'a target fails its health checks' },
  breaker: { up: 'a target answers again', down: 'a target is taken out of service: its requests fail' },
};
