// The counters behind the request metrics: one slot per API, one per API and version, found without hashing labels.
// Slots are kept by name, so that counts go on across reloads while every plan has objects of its own.
import type { RefusalReason } from '../exchange/directive.ts';
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import type { NoticeOutcome } from '../policy/body-notice/editable.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { IdempotencyOutcome } from '../policy/idempotency/rules.ts';
import { type ConsumerTally, createConsumerTally } from './consumer-tally.ts';
import { createLatency, type Latency } from './latency.ts';
import {
  AUTH_FAILURES,
  CARRIERS,
  CODES,
  DECISIONS,
  METHODS,
  NONE,
  RESOLUTIONS,
  RETIREMENTS,
} from './request-labels.ts';

export interface ApiSlot {
  readonly api: string;
  readonly versions: Map<string, VersionSlot>;
  /** By carrier, then outcome. */
  readonly resolutions: Float64Array;
  readonly authFailures: Float64Array;
}

export interface VersionSlot {
  readonly api: string;
  readonly version: string;
  /** By stage; each holds methods, then codes. Made on first use: most versions see one stage or two. */
  readonly requests: (Float64Array | undefined)[];
  readonly latency: Latency;
  readonly upstreams: Map<string, Latency>;
  readonly consumers: ConsumerTally;
  readonly retired: Float64Array;
  /** By the name of the limit. */
  readonly decisions: Map<string, Float64Array>;
  /** Requests to deprecated operations, by their name in the policy. */
  readonly operations: Map<string, number>;
  /** By reason: what was let pass because the API is only observed. */
  readonly observed: Map<RefusalReason, number>;
  /** By what became of the notice in the body. */
  readonly bodyNotices: Map<NoticeOutcome, number>;
  /** By what became of the key of a request. */
  readonly idempotency: Map<IdempotencyOutcome, number>;
  /** Addresses in answers that lead to the service, outside its path. */
  addressesOutside: number;
  lastRequest: EpochMs | undefined;
}

export interface Slots {
  readonly api: (api: ApiPlan | undefined) => ApiSlot;
  readonly version: (api: ApiPlan | undefined, version: VersionRules | undefined) => VersionSlot;
  readonly apis: () => Iterable<ApiSlot>;
  readonly versions: () => Iterable<VersionSlot>;
}

export function createSlots(): Slots {
  const byName = new Map<string, ApiSlot>();
  const byApi = new WeakMap<ApiPlan, ApiSlot>();
  const byVersion = new WeakMap<VersionRules, VersionSlot>();
  const unrouted = apiSlot(NONE);

  function apiSlot(name: string): ApiSlot {
    return entry(byName, name, () => ({
      api: name,
      versions: new Map(),
      resolutions: new Float64Array(CARRIERS.length * RESOLUTIONS.length),
      authFailures: new Float64Array(AUTH_FAILURES.length),
    }));
  }

  function ofApi(api: ApiPlan | undefined): ApiSlot {
    if (api === undefined) return unrouted;
    return entry(byApi, api, () => apiSlot(api.name));
  }

  return {
    api: ofApi,
    version: (api, version) => {
      if (version === undefined) return versionSlot(ofApi(api), NONE);
      return entry(byVersion, version, () => versionSlot(apiSlot(version.api), version.label));
    },
    apis: () => byName.values(),
    *versions() {
      for (const api of byName.values()) yield* api.versions.values();
    },
  };
}

function versionSlot(api: ApiSlot, version: string): VersionSlot {
  return entry(api.versions, version, () => ({
    api: api.api,
    version,
    requests: [],
    latency: createLatency(),
    upstreams: new Map(),
    consumers: createConsumerTally(),
    retired: new Float64Array(RETIREMENTS.length),
    decisions: new Map(),
    operations: new Map(),
    observed: new Map(),
    bodyNotices: new Map(),
    idempotency: new Map(),
    addressesOutside: 0,
    lastRequest: undefined,
  }));
}

export function countRequest(slot: VersionSlot, stage: number, method: number, code: number): void {
  slot.requests[stage] ??= new Float64Array(METHODS.length * CODES.length);
  increment(slot.requests[stage], method * CODES.length + code);
}

export function countDecision(slot: VersionSlot, policy: string, decision: (typeof DECISIONS)[number]): void {
  increment(
    entry(slot.decisions, policy, () => new Float64Array(DECISIONS.length)),
    DECISIONS.indexOf(decision),
  );
}

export function observeUpstream(slot: VersionSlot, upstream: string, milliseconds: number): void {
  entry(slot.upstreams, upstream, createLatency).observe(milliseconds);
}

export function countIn<K>(counts: Map<K, number>, name: K): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

export function increment(cells: Float64Array, index: number): void {
  cells[index] = (cells[index] ?? 0) + 1;
}

interface Entries<K, V> {
  readonly get: (key: K) => V | undefined;
  readonly set: (key: K, value: V) => unknown;
}

function entry<K, V>(entries: Entries<K, V>, key: K, make: () => V): V {
  const known = entries.get(key);
  if (known !== undefined) return known;
  const made = make();
  entries.set(key, made);
  return made;
}
