// Digests of content (RFC 9530) after an edit: made anew where they were right, so that nothing broken is vouched for.
// Their older forms and signatures over them are simply dropped with the answer's other claims (BODY-4).
import { hash } from 'node:crypto';

const ALGORITHMS: Readonly<Record<string, string>> = { 'sha-256': 'sha256', 'sha-512': 'sha512' };
const MEMBER = /^(sha-256|sha-512)=:([A-Za-z0-9+/]*={0,2}):(?:;.*)?$/;

/**
 * A Content-Digest or Repr-Digest of `before` as one of `after`. Algorithms not known here are left out; undefined where
 * none is known, `mismatch` where a digest is not that of `before`.
 */
export function renewDigest(field: string, before: Buffer, after: Buffer): string | undefined | 'mismatch' {
  // Of members with one name the last counts (RFC 9651 §3.2), so that bytes are hashed once for each algorithm.
  const digests = new Map<string, string | undefined>();
  for (const part of field.split(',')) {
    const [, name, digest] = MEMBER.exec(part.trim()) ?? [];
    if (name !== undefined) digests.set(name, digest);
  }
  const renewed: string[] = [];
  for (const [name, digest] of digests) {
    const algorithm = ALGORITHMS[name];
    if (algorithm === undefined) continue;
    if (hash(algorithm, before, 'base64') !== digest) return 'mismatch';
    renewed.push(`${name}=:${hash(algorithm, after, 'base64')}:`);
  }
  return renewed.length === 0 ? undefined : renewed.join(', ');
}
