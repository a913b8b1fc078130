// The certificates of a worker, as its primary sends them.
import type { HttpsSettings } from '../../plan/settings.ts';
import { certificatesOf, type KeyPair } from '../certificates.ts';
import type { CertificateSource } from '../tls-options.ts';

export interface SentCertificates extends CertificateSource {
  readonly take: (pairs: readonly KeyPair[]) => Promise<void>;
}

export function sentCertificates(pairs: readonly KeyPair[], https: HttpsSettings): SentCertificates {
  const listeners: Parameters<CertificateSource['onChange']>[0][] = [];
  let current = certificatesOf(pairs, https);
  return {
    current: () => current,
    onChange: (listener) => void listeners.push(listener),
    take: async (renewed) => {
      current = certificatesOf(renewed, https);
      await Promise.all(listeners.map((listener) => listener(current)));
    },
  };
}
