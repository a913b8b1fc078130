// Hexadecimal digits for the names of traces and spans, drawn from the system's randomness in larger pieces.
// A request needs 24 octets; asking for them each time would cost it more than all else that tracing does.
import { randomFillSync } from 'node:crypto';

const POOL_OCTETS = 6_144;

/** `octets`: at most as many as the pool holds. Twice as many digits come back. */
export function createRandomHex(): (octets: number) => string {
  const pool = Buffer.alloc(POOL_OCTETS);
  let at = POOL_OCTETS;
  return (octets) => {
    if (at + octets > POOL_OCTETS) {
      randomFillSync(pool);
      at = 0;
    }
    const from = at;
    at += octets;
    return pool.toString('hex', from, at);
  };
}
