// Reads a PEM file of certificate authorities and checks that it holds certificates.
import { X509Certificate } from 'node:crypto';
import { type ReadFile, tryRead } from './files.ts';

export type AuthoritiesRead =
  | { readonly kind: 'read'; readonly pem: string }
  | { readonly kind: 'unusable'; readonly finding: { readonly message: string } };

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

export async function readAuthorities(file: string, readFile: ReadFile): Promise<AuthoritiesRead> {
  const unusable = (message: string): AuthoritiesRead => ({ kind: 'unusable', finding: { message } });
  const read = await tryRead(file, readFile);
  if (read.kind === 'unreadable') return unusable(`cannot read the authorities: ${read.why}`);
  const pem = Buffer.from(read.bytes).toString('latin1');
  const certificates = pem.match(CERTIFICATE) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate))
    return unusable('not a PEM file of certificates');
  // Node reads certificates without a line end between them only up to the first.
  return { kind: 'read', pem: certificates.join('\n') };
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return false;
  }
}
