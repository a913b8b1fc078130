// When a certificate ends, as a finding: an error from then on, a warning for two weeks before.
// Of the listener's own files and of what the gateway shows to upstreams.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Remark } from '../../plan/read/positions.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { dayOf } from '../../policy/notation.ts';

const WARNING_MS = 14 * 86_400_000;

type End = Pick<Remark, 'message'> & { readonly severity: 'error' | 'warning' };

/** Of the first certificate of a PEM text; undefined while it has long to go. */
export function endOfCertificate(pem: string, today: EpochMs): End | undefined {
  const end = new X509Certificate(pem).validToDate.getTime();
  if (end > today + WARNING_MS) return undefined;
  return end <= today
    ? { severity: 'error', message: `this certificate ended on ${dayOf(end)}` }
    : { severity: 'warning', message: `this certificate ends on ${dayOf(end)}` };
}

/** The file has passed `check`; it may have gone since. */
export function endOfCertificateFile(path: string, today: EpochMs): End | undefined {
  try {
    return endOfCertificate(readFileSync(path, 'utf8'), today);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { severity: 'error', message: 'this certificate cannot be read any more' };
  }
}
