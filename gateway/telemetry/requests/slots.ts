// Stores the counts of request metrics in slots per API and per version, found without hashing labels.
import type { ApiPlan, VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { createLatency, type Latency } from '../latency.ts';
import { type ConsumerTally, createConsumerTally } from './consumer-tally.ts';
import type { OutcomeCounts } from './outcome-counters.ts';
import {
  AUTH_FAILURES,
  CARRIERS,
  CODES,
  DECISIONS,
  METHOD_LABELS,
  NONE,
  RESOLUTIONS,
  RETIREMENTS,
  UPSTREAM_OUTCOMES,
} from './request-labels.ts';

export interface ApiSlot {
  readonly api: string;
  readonly versions: Map<string, VersionSlot>;
  readonly resolutions: Float64Array;
  readonly authFailures: Float64Array;
}

export interface UpstreamSlot {
  readonly latency: Latency;
  readonly outcomes: Float64Array;
  retries: number;
}

export interface VersionSlot {
  readonly api: string;
  readonly ofApi: ApiSlot;
  readonly version: string;
  /** By stage, then method, then code. Created on first use, because most versions see one or two stages. */
  readonly requests: (Float64Array | undefined)[];
  readonly latency: Latency;
  readonly upstreams: Map<string, UpstreamSlot>;
  readonly consumers: ConsumerTally;
  readonly retired: Float64Array;
  readonly decisions: Map<string, Float64Array>;
  readonly operations: Map<string, number>;
  readonly outcomes: OutcomeCounts;
  /** Addresses in responses that point to the upstream, outside its path. */
  addressesOutside: number;
  requestBytes: number;
  responseBytes: number;
  lastRequest: EpochMs | undefined;
}

export interface Slots {
  readonly slot: (api: ApiPlan | undefined, version: VersionRules | undefined) => VersionSlot;
  readonly apis: () => Iterable<ApiSlot>;
  readonly versions: () => Iterable<VersionSlot>;
}

export function createSlots(): Slots {
  const byName = new Map([[NONE, createApiSlot(NONE)]]);
  const byVersion = new WeakMap<VersionRules, VersionSlot>();

  function slotOf(name: string, version: string): VersionSlot {
    const api = entry(byName, name, createApiSlot);
    const slot = api.versions.get(version) ?? createVersionSlot(api, version);
    api.versions.set(version, slot);
    return slot;
  }

  return {
    slot: (api, version) => {
      if (version === undefined) return slotOf(api?.name ?? NONE, NONE);
      const known = byVersion.get(version);
      if (known !== undefined) return known;
      const slot = slotOf(version.api, version.label);
      byVersion.set(version, slot);
      return slot;
    },
    apis: () => byName.values(),
    *versions() {
      for (const api of byName.values()) yield* api.versions.values();
    },
  };
}

function createApiSlot(api: string): ApiSlot {
  return {
    api,
    versions: new Map(),
    resolutions: new Float64Array(CARRIERS.length * RESOLUTIONS.length),
    authFailures: new Float64Array(AUTH_FAILURES.length),
  };
}

function createVersionSlot(ofApi: ApiSlot, version: string): VersionSlot {
  return {
    api: ofApi.api,
    ofApi,
    version,
    requests: [],
    latency: createLatency(),
    upstreams: new Map(),
    consumers: createConsumerTally(),
    retired: new Float64Array(RETIREMENTS.length),
    decisions: new Map(),
    operations: new Map(),
    outcomes: [],
    addressesOutside: 0,
    requestBytes: 0,
    responseBytes: 0,
    lastRequest: undefined,
  };
}

export function countRequest(slot: VersionSlot, stage: number, method: number, code: number): void {
  slot.requests[stage] ??= new Float64Array(METHOD_LABELS.length * CODES.length);
  increment(slot.requests[stage], method * CODES.length + code);
}

export function countDecision(slot: VersionSlot, policy: string, decision: (typeof DECISIONS)[number]): void {
  increment(entry(slot.decisions, policy, createDecisions), DECISIONS.indexOf(decision));
}

function createDecisions(): Float64Array {
  return new Float64Array(DECISIONS.length);
}

export function upstreamSlot(slot: VersionSlot, upstream: string): UpstreamSlot {
  return entry(slot.upstreams, upstream, createUpstreamSlot);
}

function createUpstreamSlot(): UpstreamSlot {
  return {
    latency: createLatency(),
    outcomes: new Float64Array(UPSTREAM_OUTCOMES.length),
    retries: 0,
  };
}

export function countIn<K>(counts: Map<K, number>, name: K): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

export function increment(cells: Float64Array, index: number): void {
  cells[index] = (cells[index] ?? 0) + 1;
}

function entry<V>(entries: Map<string, V>, key: string, make: (key: string) => V): V {
  const known = entries.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  entries.set(key, made);
  return made;
}
