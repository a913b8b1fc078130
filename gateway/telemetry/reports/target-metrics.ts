// The targets of upstreams: which are in service, how often each was ejected, and a log line per change.
import type { TargetChange, TargetHealth } from '../../exchange/version-states.ts';
import type { Logger } from '../logs/logger.ts';
import { counter, gauge, type MetricRow, type Sample } from '../series.ts';

export interface TargetMetrics {
  /** Shows these from now on; `standing` is asked at scrape. */
  readonly watchTargets: (targets: () => Iterable<TargetHealth>) => void;
  readonly targetChanged: (change: TargetChange) => void;
  /** upstream, target. */
  readonly up: () => Iterable<Sample>;
  /** upstream, target, reason. */
  readonly ejections: () => Iterable<Sample>;
}

const REASONS = ['health', 'breaker'] as const satisfies readonly TargetChange['by'][];

export function createTargetMetrics(): TargetMetrics {
  const counts = new Map<string, number>();
  let targets: () => Iterable<TargetHealth> = () => [];
  const keyOf = ({ upstream, target }: TargetHealth, by: TargetChange['by']): string =>
    `${upstream} ${target} ${by}`;
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
      for (const { upstream, target, up } of targets()) yield [[upstream, target], up ? 1 : 0];
    },
    *ejections() {
      for (const each of targets()) {
        for (const reason of REASONS)
          yield [[each.upstream, each.target, reason], counts.get(keyOf(each, reason)) ?? 0];
      }
    },
  };
}

export function targetRows({ up, ejections }: TargetMetrics): readonly MetricRow[] {
  return [
    gauge(
      'sundial_upstream_up',
      'Whether a target is in service, of those that health checks or a breaker watch.',
      ['upstream', 'target'],
      up,
      'min',
    ),
    counter(
      'sundial_upstream_ejections_total',
      'How often a target was taken out of service.',
      ['upstream', 'target', 'reason'],
      ejections,
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
  breaker: { up: 'a target answers again', down: 'a target is taken out: its requests fail' },
};
