// The rows of the metrics page about certificates.
// A part of metrics.ts; the state is set by certificate-report.ts.
import type { ProcessState } from './process-state.ts';
import { gauge, type MetricRow, single } from './series.ts';

export function certificateRows(
  state: Pick<ProcessState, 'certificates' | 'areCertificatesCurrent'>,
): readonly MetricRow[] {
  return [
    gauge(
      'sundial_tls_certificate_expiry_timestamp_seconds',
      'When a certificate expires.',
      ['sni'],
      state.certificates,
      'primary',
    ),
    gauge(
      'sundial_tls_certificates_current',
      'Whether the certificate files as they stand are in use.',
      [],
      () => single(state.areCertificatesCurrent() ? 1 : 0),
      'primary',
    ),
  ];
}
