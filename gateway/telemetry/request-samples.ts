// Samples of the request metrics, one generator per row of the table; zero cells are left out.
// Runs at scrape only.
import type { EpochMs } from '../policy/contract.ts';
import {
  AUTH_FAILURES,
  CARRIERS,
  CODES,
  DECISIONS,
  METHODS,
  NONE,
  RESOLUTIONS,
  RETIREMENTS,
  STAGES,
} from './request-labels.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { LatencySample, Sample } from './series.ts';

/** api, version, stage, method, code. */
export function* requestSamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, version, requests } of slots.versions()) {
    for (const [index, stage] of STAGES.entries()) {
      for (const [[method, code], value] of grid(requests[index], METHODS, CODES)) {
        yield [[api, version, stage, method, code], value];
      }
    }
  }
}

/** api, version. */
export function* latencySamples({ slots }: RequestMetrics): Iterable<LatencySample> {
  for (const { api, version, latency } of slots.versions()) yield [[api, version], latency];
}

/** api, version, upstream. */
export function* upstreamSamples({ slots }: RequestMetrics): Iterable<LatencySample> {
  for (const { api, version, upstreams } of slots.versions()) {
    for (const [upstream, latency] of upstreams) yield [[api, version, upstream], latency];
  }
}

/** api, version, consumer. */
export function* deprecatedSamples({ slots }: RequestMetrics, at: EpochMs): Iterable<Sample> {
  for (const { api, version, consumers } of slots.versions()) {
    for (const [consumer, calls] of consumers.counts(at)) yield [[api, version, consumer], calls];
  }
}

/** api, version, operation. */
export function* deprecatedOperationSamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, version, operations } of slots.versions()) {
    for (const [operation, value] of operations) yield [[api, version, operation], value];
  }
}

/** api, version, reason. */
export function* observedSamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, version, observed } of slots.versions()) {
    for (const [reason, value] of observed) yield [[api, version, reason], value];
  }
}

/** api, version, outcome. */
export function* bodyNoticeSamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, version, bodyNotices } of slots.versions()) {
    for (const [outcome, value] of bodyNotices) yield [[api, version, outcome], value];
  }
}

/** api, version, outcome. */
export function* idempotencySamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, version, idempotency } of slots.versions()) {
    for (const [outcome, value] of idempotency) yield [[api, version, outcome], value];
  }
}

/** api, version. */
export function* outsideSamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, version, addressesOutside } of slots.versions()) {
    if (addressesOutside > 0) yield [[api, version], addressesOutside];
  }
}

/** api, version, action. */
export function* retiredSamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, version, retired } of slots.versions()) {
    for (const [action, value] of list(retired, RETIREMENTS)) yield [[api, version, action], value];
  }
}

/** api, version. */
export function* lastRequestSamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, version, lastRequest } of slots.versions()) {
    if (lastRequest !== undefined) yield [[api, version], lastRequest / 1000];
  }
}

/** api, carrier, outcome. */
export function* resolutionSamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, resolutions } of slots.apis()) {
    for (const [[carrier, outcome], value] of grid(resolutions, CARRIERS, RESOLUTIONS)) {
      yield [[api, carrier, outcome], value];
    }
  }
}

/** api, version, policy, decision. */
export function* decisionSamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, version, decisions } of slots.versions()) {
    for (const [policy, cells] of decisions) {
      for (const [decision, value] of list(cells, DECISIONS)) yield [[api, version, policy, decision], value];
    }
  }
}

/** api, reason. */
export function* authFailureSamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, authFailures } of slots.apis()) {
    for (const [reason, value] of list(authFailures, AUTH_FAILURES)) yield [[api, reason], value];
  }
}

function* list(cells: Float64Array, names: readonly string[]): Iterable<[name: string, value: number]> {
  for (const [index, name] of names.entries()) {
    const value = cells[index];
    if (value !== undefined && value > 0) yield [name, value];
  }
}

function* grid(
  cells: Float64Array | undefined,
  rows: readonly string[],
  columns: readonly string[],
): Iterable<[names: [row: string, column: string], value: number]> {
  if (cells === undefined) return;
  for (const [index, value] of cells.entries()) {
    if (value === 0) continue;
    yield [
      [rows[Math.floor(index / columns.length)] ?? NONE, columns[index % columns.length] ?? NONE],
      value,
    ];
  }
}
