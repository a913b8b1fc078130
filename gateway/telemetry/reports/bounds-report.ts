// Requests and connections refused by the bounds of gateway.yaml, load shed, and requests per plane.
import {
  COUNTED_BOUNDS,
  type CountedBound,
  PLANE_REASONS,
  PLANES,
  type PlaneName,
  type PlaneReason,
  SHED_REASONS,
  type ShedReason,
} from '../../plan/bounds.ts';
import { counter, gauge, type MetricRow, type Sample, single } from '../series.ts';

export interface LoadGauges {
  readonly lagMs: () => number;
  readonly requests: () => number;
  readonly connections: () => number;
}

export interface BoundsReport {
  readonly refused: (bound: CountedBound) => void;
  readonly shed: (reason: ShedReason) => void;
  readonly carried: (plane: PlaneName, reason: PlaneReason) => void;
  readonly connected: (plane: PlaneName, change: 1 | -1) => void;
  readonly watch: (gauges: LoadGauges) => void;
}

export interface BoundsSamples {
  readonly refusals: () => Iterable<Sample>;
  readonly sheds: () => Iterable<Sample>;
  readonly lag: () => Iterable<Sample>;
  readonly requests: () => Iterable<Sample>;
  readonly connections: () => Iterable<Sample>;
  readonly byPlane: () => Iterable<Sample>;
  readonly connectionsByPlane: () => Iterable<Sample>;
}

export function createBoundsReport(): BoundsReport & BoundsSamples {
  const refusals = new Map<CountedBound, number>(COUNTED_BOUNDS.map((bound) => [bound, 0]));
  const sheds = new Map<ShedReason, number>(SHED_REASONS.map((reason) => [reason, 0]));
  /** By plane, then by reason. An array, because each request is counted. */
  const byPlane = new Float64Array(PLANES.length * PLANE_REASONS.length);
  const connectionsByPlane = new Map<PlaneName, number>(PLANES.map((plane) => [plane, 0]));
  let gauges: LoadGauges = { lagMs: () => 0, requests: () => 0, connections: () => 0 };
  return {
    refused: (bound) => void refusals.set(bound, (refusals.get(bound) ?? 0) + 1),
    shed: (reason) => void sheds.set(reason, (sheds.get(reason) ?? 0) + 1),
    carried(plane, reason) {
      const at = PLANES.indexOf(plane) * PLANE_REASONS.length + PLANE_REASONS.indexOf(reason);
      byPlane[at] = (byPlane[at] ?? 0) + 1;
    },
    connected: (plane, change) =>
      void connectionsByPlane.set(plane, (connectionsByPlane.get(plane) ?? 0) + change),
    *byPlane() {
      for (const [at, count] of byPlane.entries()) {
        const plane = PLANES[Math.floor(at / PLANE_REASONS.length)];
        const reason = PLANE_REASONS[at % PLANE_REASONS.length];
        if (plane !== undefined && reason !== undefined && (count > 0 || isExpected(plane, reason)))
          yield [[plane, reason], count];
      }
    },
    connectionsByPlane: () => connectionsByPlane.entries().map(([plane, count]): Sample => [[plane], count]),
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

/** The fast plane serves usual requests only. */
function isExpected(plane: PlaneName, reason: PlaneReason): boolean {
  return (plane === 'fast') === (reason === 'usual');
}

export function boundRows({
  refusals,
  sheds,
  lag,
  requests,
  connections,
  byPlane,
  connectionsByPlane,
}: BoundsSamples): MetricRow[] {
  return [
    counter(
      'sundial_plane_requests_total',
      'Requests by plane, and the reason for the plane.',
      ['plane', 'reason'],
      byPlane,
    ),
    gauge(
      'sundial_plane_connections',
      'Open client connections, by plane.',
      ['plane'],
      connectionsByPlane,
      'sum',
    ),
    counter(
      'sundial_bounds_refused_total',
      'Requests, connections and streams refused because of a bound in gateway.yaml.',
      ['bound'],
      refusals,
    ),
    counter(
      'sundial_requests_shed_total',
      'Requests refused because this process was overloaded.',
      ['reason'],
      sheds,
    ),
    gauge('sundial_requests_in_flight', 'Requests in flight.', [], requests, 'sum'),
    gauge('sundial_client_connections', 'Open client connections.', [], connections, 'sum'),
    gauge('sundial_event_loop_lag_seconds', 'Delay of the event loop at the last measurement.', [], lag),
  ];
}
