// Until when a token is good, as seen by whoever verifies it and by whoever keeps something open on its word.
// Read by identity/ for each token, and of the consumer that a WebSocket was opened for.
import type { EpochMs } from '../contract.ts';
import type { Consumer } from './access.ts';

/** Seconds by which the issuer's clock may differ from ours. */
export const LEEWAY = 30;

/** The first instant at which a request with the same token, key or certificate would be refused; undefined: none. */
export function tokenEndOf({ claims, ends }: Pick<Consumer, 'claims' | 'ends'>): EpochMs | undefined {
  const { exp } = claims;
  if (typeof exp !== 'number') return ends;
  return Math.min((exp + LEEWAY) * 1000, ends ?? Number.POSITIVE_INFINITY);
}
