// The audit trail of the admin listener: who changed what, from where, why, and what stood there before.
// One log line and one count for each attempt, those that were refused included.
import type { AuditEntry } from './logger.ts';
import type { Telemetry } from './telemetry.ts';

export type AdminWriteOutcome =
  | 'done'
  /** What was asked for is malformed, unknown, or not possible as things stand. */
  | 'refused'
  /** Without the token, or from a page elsewhere. */
  | 'unauthorised'
  /** The store was away. */
  | 'unavailable'
  | 'failed';

export type AuditTrail = (outcome: AdminWriteOutcome, entry: AuditEntry) => void;

export function createAuditTrail({ logger, metrics }: Pick<Telemetry, 'logger' | 'metrics'>): AuditTrail {
  return (outcome, entry) => {
    metrics.adminWrite(entry.action, outcome);
    logger.info(`admin write ${outcome}`, { audit: entry });
  };
}
