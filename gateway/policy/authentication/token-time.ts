// Until when a token is good, as seen by whoever verifies it and by whoever keeps something open on its word.
// Read by identity/ for each token, and of the consumer that a WebSocket was opened for.
import type { EpochMs } from '../contract.ts';
import type { Consumer } from './access.ts';

/** Seconds by which the issuer's clock may differ from ours. */
export const LEEWAY = 30;

/** The first instant at which a request with the consumer's token would be refused; undefined where it never ends. */
export function tokenEndOf({ claims }: Pick<Consumer, 'claims'>): EpochMs | undefined {
  const { exp } = claims;
  return typeof exp === 'number' ? (exp + LEEWAY) * 1000 : undefined;
}
