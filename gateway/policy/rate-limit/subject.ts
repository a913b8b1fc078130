// Names the bucket a request is counted in (RL-12).
// Its first part is named when a plan is compiled, its subject by the pipeline; a store learns no more of a caller.
import type { CountedBy } from './limit.ts';

export interface Caller {
  /** Undefined where the access is public; such requests are counted by address. */
  readonly consumer: { readonly id: string } | undefined;
  /** IPv6 already shortened to its /64. */
  readonly clientAddress: string;
}

/** Of an API, what is counted together in it, and the name of the limit: no part can pose as two. */
export function bucketName(api: string, scope: string, limit: string): string {
  return `${part(api)}:${part(scope)}:${part(limit)}`;
}

/**
 * A key no two subjects share: the name of the bucket holds no more colons than its own two, and the subject before it,
 * which a client may choose, says by its kind whether it is a consumer, an address or everyone, so that none can pose as
 * another. The braces are the hash tag of Redis Cluster: the buckets of one subject are kept on one node.
 */
export function bucketKey(bucket: string, by: CountedBy, { consumer, clientAddress }: Caller): string {
  // A node for each API and limit: what everyone shares is asked for the most.
  if (by === 'everyone') return `{everyone:${bucket}}`;
  return by === 'consumer' && consumer !== undefined
    ? `{consumer:${consumer.id}}:${bucket}`
    : `{address:${clientAddress}}:${bucket}`;
}

function part(text: string): string {
  return text.includes(':') || text.includes('%') ? encodeURIComponent(text) : text;
}
