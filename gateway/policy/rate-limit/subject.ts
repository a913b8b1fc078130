// Names the bucket a request is counted in (RL-12).
// Called by the pipeline; the key is all that a store learns of a caller.
import type { LimitRules } from './limit.ts';

export interface Subject {
  readonly api: string;
  /** The version, or one operation of it, whose requests are counted together. */
  readonly scope: string;
  /** Name of the limit, so that each stage of a version counts in a bucket of its own (RL-11). */
  readonly limit: string;
  readonly by: LimitRules['by'];
  /** Undefined where the access is public; such requests are counted by address. */
  readonly consumer: { readonly id: string } | undefined;
  /** IPv6 already shortened to its /64. */
  readonly clientAddress: string;
}

/**
 * A key no two subjects share: the parts before the last hold no colon, and the last one, which a client may choose,
 * says by its kind whether it is a consumer or an address, so that neither can pose as the other.
 */
export function bucketKey(subject: Subject): string {
  const { api, scope, limit, by, consumer, clientAddress } = subject;
  const who =
    by === 'consumer' && consumer !== undefined ? `consumer:${consumer.id}` : `address:${clientAddress}`;
  return `${part(api)}:${part(scope)}:${part(limit)}:${who}`;
}

function part(text: string): string {
  return text.includes(':') || text.includes('%') ? encodeURIComponent(text) : text;
}
