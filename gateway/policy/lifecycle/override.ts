// Types of overrides (pauses and holds), their store port, and look-ups of those in force.
import type { EpochMs } from '../contract.ts';
import type { Label } from '../versioning/resolution.ts';

/** While it is in force, brownouts and retirement do not happen. Versions with an upstream are served. */
export interface Pause {
  readonly kind: 'pause';
  readonly id: string;
  readonly api: string;
  readonly label: Label | undefined;
  readonly author: string;
  readonly reason: string;
  /** By the lifecycle clock: from <= now < until. */
  readonly from: EpochMs;
  readonly until: EpochMs;
}

/** While it is in force, the version does not retire, but brownouts happen. A version that ended before stays ended. */
export interface Hold extends Omit<Pause, 'kind' | 'label'> {
  readonly kind: 'hold';
  readonly label: Label;
}

export type Override = Pause | Hold;

type Subject = Pick<Hold, 'api' | 'label'>;

/** Every call rejects only with `StoreUnavailable`. */
export interface OverrideStore {
  /**
   * The overrides in this process's memory, expired ones included until they are removed. The array is the same until it
   * changes.
   */
  readonly current: () => readonly Override[];
  /** Whether the store has been read since the start. Before that, `current` may be incomplete. */
  readonly wasRead: () => boolean;
  /** Resolves once the override is durable and in force in this process. Other gateways apply it within a second. */
  readonly put: (override: Override) => Promise<void>;
  readonly remove: (id: string) => Promise<boolean>;
}

/** Far more than the clocks of two gateways can differ. */
const KEPT_AFTER_THE_END_MS = 86_400_000;

/** Overrides that ended so long ago that no gateway can still apply them. */
export function longExpired(overrides: readonly Override[], now: EpochMs): readonly Override[] {
  return overrides.filter(({ until }) => until + KEPT_AFTER_THE_END_MS <= now);
}

/** The pause of a version in force at `now`. The one that ends last wins. */
export function pauseOf(overrides: readonly Override[], version: Subject, now: EpochMs): Pause | undefined {
  let longest: Pause | undefined;
  for (const each of overrides) {
    if (each.kind !== 'pause' || !isInForce(each, version, now)) continue;
    if (longest === undefined || each.until > longest.until) longest = each;
  }
  return longest;
}

/** The hold of a version in force at `now`. A guard makes at most one per version. */
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

/** The first instant after `now` at which an override of the version begins or ends. `Infinity` without one. */
export function nextOverrideChange(overrides: readonly Override[], version: Subject, now: EpochMs): EpochMs {
  let next = Number.POSITIVE_INFINITY;
  for (const each of overrides) {
    if (!appliesTo(each, version)) continue;
    if (each.from > now) next = Math.min(next, each.from);
    else if (each.until > now) next = Math.min(next, each.until);
  }
  return next;
}

function isInForce(override: Override, version: Subject, now: EpochMs): boolean {
  return appliesTo(override, version) && now >= override.from && now < override.until;
}

function appliesTo(override: Override, { api, label }: Subject): boolean {
  return override.api === api && (override.label === undefined || override.label === label);
}
