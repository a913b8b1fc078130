// Key pairs for tests of TLS: any names, kind and validity.
import { generate } from 'selfsigned';
import type { KeyPair } from '../../gateway/server/certificates.ts';

const DAY = 86_400_000;

export interface PairWanted {
  readonly names: readonly string[];
  readonly kind?: 'ec' | 'rsa';
  /** Default: a day ago. */
  readonly from?: number;
  /** Default: thirty days from now. */
  readonly until?: number;
  /** The issuer; default: self-signed. */
  readonly by?: Pick<KeyPair, 'cert' | 'key'>;
  readonly authority?: boolean;
}

export async function makeKeyPair({
  names,
  kind = 'ec',
  from = Date.now() - DAY,
  until = Date.now() + 30 * DAY,
  by,
  authority = false,
}: PairWanted): Promise<KeyPair> {
  const made = await generate([{ name: 'commonName', value: names[0] ?? 'nobody' }], {
    keyType: kind,
    ...(kind === 'ec' ? { curve: 'P-256' as const } : { keySize: 2048 }),
    algorithm: 'sha256',
    ...(by && { ca: { cert: by.cert, key: by.key } }),
    notBeforeDate: new Date(from),
    notAfterDate: new Date(until),
    extensions: [
      { name: 'basicConstraints', cA: authority, critical: true },
      { name: 'subjectAltName', altNames: names.map((value) => ({ type: 2 as const, value })) },
    ],
  });
  return { names, cert: made.cert, key: made.private, expiry: Math.floor(until / 1_000) * 1_000 };
}
