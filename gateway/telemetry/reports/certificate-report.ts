// Certificates of the public listeners: their expiry, and log lines for a renewal that failed.
import type { EpochMs } from '../../policy/contract.ts';
import type { Telemetry } from '../telemetry.ts';

export interface ReportedPair {
  readonly names: readonly string[];
  readonly expiry: EpochMs;
}

export interface CertificateReport {
  readonly onInForce: (pairs: readonly ReportedPair[]) => void;
  readonly onTakenOver: (pairs: readonly ReportedPair[]) => void;
  /** The renewal for `names` failed, and the old pair stays in use. */
  readonly onKept: (names: readonly string[], reason: unknown) => void;
  /** Whether the current content of all files is in use. */
  readonly onState: (current: boolean) => void;
}

export function createCertificateReport({
  logger,
  metrics,
}: Pick<Telemetry, 'logger' | 'metrics'>): CertificateReport {
  const gauge = (pairs: readonly ReportedPair[]): void => {
    for (const { names, expiry } of pairs) for (const name of names) metrics.certificate(name, expiry);
  };
  return {
    onInForce: gauge,
    onTakenOver: (pairs) => {
      gauge(pairs);
      for (const { names, expiry } of pairs) {
        const expires = Temporal.Instant.fromEpochMilliseconds(expiry).toString();
        logger.info('a new certificate is in use', { names: names.join(' '), expires });
      }
    },
    onKept: (names, error) =>
      logger.error('a new certificate was refused; the certificate in use stays', {
        names: names.join(' '),
        error,
      }),
    onState: metrics.certificatesCurrent,
  };
}
