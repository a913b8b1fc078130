// What the bounds of gateway.yaml have refused, and what was shed for load: counters with closed label lists.
// Fed by server/ and plane/ as they refuse, read at scrape.
import { REFUSING_BOUNDS, type RefusingBound, SHED_REASONS, type ShedReason } from '../plan/bounds.ts';
import { counter, gauge, type MetricRow, type Sample, single } from './series.ts';

/** What a load guard shows of itself at scrape. */
export interface LoadGauges {
  readonly lagMs: () => number;
  readonly requests: () => number;
  readonly connections: () => number;
}

export interface BoundsReport {
  readonly refused: (bound: RefusingBound) => void;
  readonly shed: (reason: ShedReason) => void;
  /** Told once where the gauges are. */
  readonly watch: (gauges: LoadGauges) => void;
}

export interface BoundsSamples {
  readonly refusals: () => Iterable<Sample>;
  readonly sheds: () => Iterable<Sample>;
  readonly lag: () => Iterable<Sample>;
  readonly requests: () => Iterable<Sample>;
  readonly connections: () => Iterable<Sample>;
}

export function createBoundsReport(): BoundsReport & BoundsSamples {
  const refusals = new Map<RefusingBound, number>(REFUSING_BOUNDS.map((bound) => [bound, 0]));
  const sheds = new Map<ShedReason, number>(SHED_REASONS.map((reason) => [reason, 0]));
  let gauges: LoadGauges = { lagMs: () => 0, requests: () => 0, connections: () => 0 };
  return {
    refused: (bound) => void refusals.set(bound, (refusals.get(bound) ?? 0) + 1),
    shed: (reason) => void sheds.set(reason, (sheds.get(reason) ?? 0) + 1),
    watch: (given) => {
      gauges = given;
    },
    refusals: () => refusals.entries().map(([bound, count]): Sample => [[bound], count]),
    sheds: () => sheds.entries().map(([reason, count]): Sample => [[reason], count]),
    lag: () => single(gauges.lagMs() / 1000),
    requests: () => single(gauges.requests()),
    connections: () => single(gauges.connections()),
  };
}

export function boundRows({ refusals, sheds, lag, requests, connections }: BoundsSamples): MetricRow[] {
  return [
    counter(
      'sundial_bounds_refused_total',
      'What clients were refused because a bound of gateway.yaml was reached.',
      ['bound'],
      refusals,
    ),
    counter(
      'sundial_requests_shed_total',
      'Requests refused because this process had too much to do.',
      ['reason'],
      sheds,
    ),
    gauge('sundial_requests_in_flight', 'Requests that are not answered yet.', [], requests, 'sum'),
    gauge('sundial_client_connections', 'Open connections of clients.', [], connections, 'sum'),
    gauge('sundial_event_loop_lag_seconds', 'How late the event loop was when last looked at.', [], lag),
  ];
}
