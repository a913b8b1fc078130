// Tokens bound to a certificate or key, with what the client shows (JWT-6, RFC 8705 §3, RFC 9449 §7.2).
import { createHash } from 'node:crypto';
import type { ClientCertificate } from '../../../gateway/policy/authentication/access.ts';
import { NOW } from '../../support/exchange-samples.ts';
import { base64url, PASS } from './ways.ts';

/** A certificate with the digest of `bytes`. */
const certificate = (bytes: string, ends = NOW + 1): ClientCertificate => ({
  ...{ commonName: undefined, dnsNames: [], uris: [], ends },
  fingerprint: createHash('sha256').update(bytes).digest('hex'),
});
const OURS = certificate('ours');
const digest = Buffer.from(OURS.fingerprint, 'hex');
const to = (thumbprint: unknown, more: object = {}) => ({ 'x5t#S256': thumbprint, ...more });
const BOUND = to(base64url(digest));

/** `cnf`, what the client shows, and the result. */
export const BINDINGS: readonly (readonly [
  name: string,
  cnf: unknown,
  shown: ClientCertificate | undefined,
  status: number,
  says: string,
])[] = [
  ['its certificate', BOUND, OURS, 200, PASS],
  ['no certificate', BOUND, undefined, 401, 'binding'],
  ['another certificate', BOUND, certificate('theirs'), 401, 'binding'],
  ['its certificate, which has ended', BOUND, certificate('ours', NOW), 401, 'binding'],
  ['the digest in hex', to(OURS.fingerprint), OURS, 401, 'binding'],
  ['the digest in base64', to(digest.toString('base64')), OURS, 401, 'binding'],
  ['the digest with a character more', to(`${base64url(digest)}A`), OURS, 401, 'binding'],
  ['the digest in another spelling', to(respelt(base64url(digest))), OURS, 401, 'binding'],
  ['half of the digest', to(base64url(digest.subarray(16))), OURS, 401, 'binding'],
  ['an empty digest', to(''), OURS, 401, 'binding'],
  ['a digest in a list', to([base64url(digest)]), OURS, 401, 'binding'],
  ['no digest', to(null), OURS, 401, 'binding'],
  ['a digest by SHA-1', { x5t: base64url(digest.subarray(20)) }, OURS, 401, 'binding'],
  ['the digest under another name', { 'X5T#S256': base64url(digest) }, OURS, 401, 'binding'],
  ['a key (DPoP)', { jkt: base64url(digest) }, OURS, 401, 'binding'],
  ['a key beside its certificate', to(base64url(digest), { jkt: 'x' }), OURS, 401, 'binding'],
  ['a whole key', { jwk: { kty: 'EC' } }, OURS, 401, 'binding'],
  ['an empty cnf', {}, OURS, 401, 'binding'],
  ['null', null, OURS, 401, 'binding'],
  ['false', false, OURS, 401, 'binding'],
  ['a list', [base64url(digest)], OURS, 401, 'binding'],
  ['a text', base64url(digest), OURS, 401, 'binding'],
];

/** The same 32 bytes with spare bits set in the last character. */
function respelt(text: string): string {
  const other = text.slice(0, -1) + String.fromCharCode((text.at(-1) ?? '').charCodeAt(0) + 1);
  if (!Buffer.from(other, 'base64url').equals(digest)) throw new Error('other bytes');
  return other;
}
