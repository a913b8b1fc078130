// The samples of the request metrics, without zeros.
import type { EpochMs } from '../../policy/contract.ts';
import type { Sample } from '../series.ts';
import {
  AUTH_FAILURES,
  CARRIERS,
  CODES,
  DECISIONS,
  METHOD_LABELS,
  NONE,
  RESOLUTIONS,
  RETIREMENTS,
  STAGES,
  UPSTREAM_OUTCOMES,
} from './request-labels.ts';
import type { RequestMetrics } from './request-metrics.ts';
import type { VersionSlot } from './slots.ts';

export function* requestSamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, version, requests } of slots.versions()) {
    for (const [index, stage] of STAGES.entries()) {
      for (const [[method, code], value] of grid(requests[index], METHOD_LABELS, CODES)) {
        yield [[api, version, stage, method, code], value];
      }
    }
  }
}

/** api, version. Undefined values are omitted. */
const valued = <Value>(valueIn: (slot: VersionSlot) => Value | undefined) =>
  function* ({ slots }: RequestMetrics): Iterable<readonly [labels: readonly string[], value: Value]> {
    for (const slot of slots.versions()) {
      const value = valueIn(slot);
      if (value !== undefined) yield [[slot.api, slot.version], value];
    }
  };

export const latencySamples = valued(({ latency }) => latency);
export const outsideSamples = valued(({ addressesOutside }) => addressesOutside || undefined);
export const requestBytesSamples = valued(({ requestBytes }) => requestBytes || undefined);
export const responseBytesSamples = valued(({ responseBytes }) => responseBytes || undefined);
export const lastRequestSamples = valued(({ lastRequest }) => lastRequest && lastRequest / 1000);

/** api, version, name. */
const counted = <Value>(valuesOf: (slot: VersionSlot) => Iterable<readonly [name: string, value: Value]>) =>
  function* ({ slots }: RequestMetrics): Iterable<readonly [labels: readonly string[], value: Value]> {
    for (const slot of slots.versions()) {
      for (const [name, value] of valuesOf(slot)) yield [[slot.api, slot.version, name], value];
    }
  };

export const upstreamSamples = counted(({ upstreams }) =>
  upstreams.entries().map(([name, { latency }]) => [name, latency] as const),
);
export const retrySamples = counted(({ upstreams }) =>
  upstreams.entries().map(([name, { retries }]) => [name, retries] as const),
);
export const deprecatedSamples = (metrics: RequestMetrics, at: EpochMs): Iterable<Sample> =>
  counted(({ consumers }) => consumers.counts(at))(metrics);
export const deprecatedOperationSamples = counted(({ operations }) => operations);
export const retiredSamples = counted(({ retired }) => list(retired, RETIREMENTS));

export function* upstreamOutcomeSamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, version, upstreams } of slots.versions()) {
    for (const [name, { outcomes }] of upstreams) {
      for (const [outcome, value] of list(outcomes, UPSTREAM_OUTCOMES)) {
        yield [[api, version, name, outcome], value];
      }
    }
  }
}

export function* resolutionSamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, resolutions } of slots.apis()) {
    for (const [[carrier, outcome], value] of grid(resolutions, CARRIERS, RESOLUTIONS)) {
      yield [[api, carrier, outcome], value];
    }
  }
}

export function* decisionSamples({ slots }: RequestMetrics): Iterable<Sample> {
  for (const { api, version, decisions } of slots.versions()) {
    for (const [policy, cells] of decisions) {
      for (const [decision, value] of list(cells, DECISIONS)) yield [[api, version, policy, decision], value];
    }
  }
}

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
