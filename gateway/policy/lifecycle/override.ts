// Overrides: the only stored part of a version's life. An operator's pause of brownouts and retirement, and the hold of a
// guard, which keeps a version from retiring while too much of it is called.
// Kept behind a port, held in memory by every gateway, so that a lost store changes nothing.
import type { EpochMs } from '../contract.ts';
import type { Label } from '../versioning/resolution.ts';

/** While it runs, brownouts and retirement do not happen: what has an upstream is served. */
export interface Pause {
  readonly kind: 'pause';
  readonly id: string;
  readonly api: string;
  /** Undefined: every version of the API. */
  readonly label: Label | undefined;
  readonly author: string;
  readonly reason: string;
  /** By the lifecycle clock: from <= now < until. */
  readonly from: EpochMs;
  readonly until: EpochMs;
}

/** While it runs the version does not retire; its brownouts happen. What had ended before it began stays ended. */
export interface Hold extends Omit<Pause, 'kind' | 'label'> {
  readonly kind: 'hold';
  readonly label: Label;
}

export type Override = Pause | Hold;

/** The version that an override is looked for. */
type Subject = Pick<Hold, 'api' | 'label'>;

/** Every answer rejects with `StoreUnavailable` only. */
export interface OverrideStore {
  /** What is known in this process, expired ones included until they are removed; the same array until it changes. */
  readonly current: () => readonly Override[];
  /** Whether the store itself has been read since the start: until then there may be others than `current` has. */
  readonly wasRead: () => boolean;
  /** Stored durably, and in force here, once this resolves; on other gateways within a second. */
  readonly put: (override: Override) => Promise<void>;
  /** False where there is none of that id. */
  readonly remove: (id: string) => Promise<boolean>;
}

/** Far more than the clocks of two gateways can be apart. */
const KEPT_AFTER_THE_END_MS = 86_400_000;

/** Those that ended so long before `now` that no gateway can hold them for running. */
export function longOver(overrides: readonly Override[], now: EpochMs): readonly Override[] {
  return overrides.filter(({ until }) => until + KEPT_AFTER_THE_END_MS <= now);
}

/** The pause of one version in force at `now`, the one that ends last; undefined where none is. */
export function pauseOf(overrides: readonly Override[], version: Subject, now: EpochMs): Pause | undefined {
  let longest: Pause | undefined;
  for (const each of overrides) {
    if (each.kind !== 'pause' || !isInForce(each, version, now)) continue;
    if (longest === undefined || each.until > longest.until) longest = each;
  }
  return longest;
}

/** The hold of one version in force at `now`; a guard makes one for each. */
export function retirementHoldOf(
  overrides: readonly Override[],
  version: Subject,
  now: EpochMs,
): Hold | undefined {
  for (const each of overrides) {
    if (each.kind === 'hold' && isInForce(each, version, now)) return each;
  }
  return undefined;
}

/** The first instant after `now` at which an override of the version begins or ends; `Infinity` without one. */
export function nextOverrideChange(overrides: readonly Override[], version: Subject, now: EpochMs): EpochMs {
  let next = Number.POSITIVE_INFINITY;
  for (const each of overrides) {
    if (!concerns(each, version)) continue;
    if (each.from > now) next = Math.min(next, each.from);
    else if (each.until > now) next = Math.min(next, each.until);
  }
  return next;
}

function isInForce(override: Override, version: Subject, now: EpochMs): boolean {
  return concerns(override, version) && now >= override.from && now < override.until;
}

function concerns(override: Override, { api, label }: Subject): boolean {
  return override.api === api && (override.label === undefined || override.label === label);
}
