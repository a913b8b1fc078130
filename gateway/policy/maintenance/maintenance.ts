// Maintenance: a service is being worked on, and whoever asks for it is told when to come back.
import type { EpochMs, RetryLater } from '../contract.ts';

export interface Maintenance {
  /** From this instant requests are served again, without an edit and without a reload. */
  readonly until: EpochMs;
  /** The operators' own note; no client is told. */
  readonly why?: string | undefined;
}

export type MaintenanceRefusal = RetryLater<'maintenance'>;

/** Whether it holds at `now`, which is the real time: machines are worked on in no other. */
export function isHeld(maintenance: Maintenance | undefined, now: EpochMs): maintenance is Maintenance {
  return maintenance !== undefined && now < maintenance.until;
}

/** Undefined where nothing holds. The delay is rounded up, so that a client who obeys finds it over (ERR-5). */
export function refuseMaintained(maintenance: Maintenance, now: EpochMs): MaintenanceRefusal | undefined {
  if (!isHeld(maintenance, now)) return undefined;
  const { until } = maintenance;
  return {
    reason: 'maintenance',
    retryAfterSeconds: Math.max(1, Math.ceil((until - now) / 1000)),
    restoredAt: until,
  };
}
