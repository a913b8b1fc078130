// TLS as RFC 9325 wants it, and certificates by name (TLS-1, TLS-2, TLS-3).
// Used by node-server.ts for the https listener.
import { constants } from 'node:crypto';
import { createSecureContext, type SecureContext, type TlsOptions } from 'node:tls';
import type { Certificates } from './certificates.ts';

// TLS 1.2: ephemeral key exchange and authenticated encryption only; TLS 1.3 suites are all of that kind.
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

export function tlsOptions(certificates: Certificates): TlsOptions {
  const contexts = new Map<string, SecureContext>();
  for (const { names, cert, key } of certificates.pairs) {
    const context = createSecureContext({ cert, key });
    for (const name of names) contexts.set(name, context);
  }
  return {
    cert: certificates.default.cert,
    key: certificates.default.key,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    honorCipherOrder: true,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    SNICallback(servername, answer) {
      const name = servername.toLowerCase();
      const context = contexts.get(name) ?? contexts.get(name.replace(/^[^.]+/, '*'));
      // Answering (null, undefined) would fall back to the default certificate.
      if (context === undefined) answer(new Error('unrecognized_name'));
      else answer(null, context);
    },
  };
}
