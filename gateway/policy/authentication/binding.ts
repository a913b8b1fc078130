// Tokens that are bound to something their holder has to show besides (JWT-6): to what, and whether a request shows it.
// The first is read once per token by whoever verifies it, the second is asked for each request that carries one.
import type { EpochMs } from '../contract.ts';
import type { ClientCertificate } from './access.ts';

/** `certificate`: by its SHA-256, lower-case hex. `other`: a key (DPoP), or what is not understood; no request shows that. */
export type Binding =
  | { readonly kind: 'none' }
  | { readonly kind: 'other' }
  | { readonly kind: 'certificate'; readonly fingerprint: string };

const NONE: Binding = { kind: 'none' };
const OTHER: Binding = { kind: 'other' };

/** 32 bytes in base64url: the four spare bits of the last character are zero, so that each digest has one spelling. */
const SHA_256 = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** Of `cnf` (RFC 7800 §3.1): a digest alone is a binding to a certificate (RFC 8705 §3.1); of two, one would go unproven. */
export function bindingOf(claims: Readonly<Record<string, unknown>>): Binding {
  if (!Object.hasOwn(claims, 'cnf')) return NONE;
  const { cnf } = claims;
  if (typeof cnf !== 'object' || cnf === null || Array.isArray(cnf)) return OTHER;
  const [[name, digest] = [], ...others] = Object.entries(cnf);
  if (name !== 'x5t#S256' || others.length > 0) return OTHER;
  if (typeof digest !== 'string' || !SHA_256.test(digest)) return OTHER;
  return { kind: 'certificate', fingerprint: Buffer.from(digest, 'base64url').toString('hex') };
}

/** RFC 8705 §3: by the very certificate, which is shown to everybody, so that the time a comparison takes tells nothing. */
export function showsCertificate(
  shown: ClientCertificate | undefined,
  fingerprint: string,
  now: EpochMs,
): shown is ClientCertificate {
  // Proven when the connection was opened, which may be long ago.
  return shown !== undefined && shown.fingerprint === fingerprint && now < shown.ends;
}
