// Decides whether an API is in maintenance and builds the refusal with its Retry-After.
import type { EpochMs, RetryLater } from '../contract.ts';

export interface Maintenance {
  /** Maintenance ends at this instant, without an edit or a reload. */
  readonly until: EpochMs;
  /** A note for operators. Clients never see it. */
  readonly why?: string | undefined;
}

export type MaintenanceRefusal = RetryLater<'maintenance'>;

/** `now` is the real time, not the lifecycle clock. */
export function isInMaintenance(
  maintenance: Maintenance | undefined,
  now: EpochMs,
): maintenance is Maintenance {
  return maintenance !== undefined && now < maintenance.until;
}

/** Undefined outside maintenance. The delay is rounded up, so that an obedient client is not refused again (ERR-5). */
export function refuseDuringMaintenance(
  maintenance: Maintenance,
  now: EpochMs,
): MaintenanceRefusal | undefined {
  if (!isInMaintenance(maintenance, now)) return undefined;
  const { until } = maintenance;
  return {
    reason: 'maintenance',
    retryAfterSeconds: Math.max(1, Math.ceil((until - now) / 1000)),
    restoredAt: until,
  };
}
