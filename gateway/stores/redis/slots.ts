// Which of the 16384 slots of a cluster a key falls into, and which server holds which slots.
// Pure; connect.ts routes by it.
import type { RedisServer } from '../../plan/redis-address.ts';

export const SLOTS = 16_384;

/** The slots from `from` to `to`, both included, and the server that takes writes of them. */
export interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly primary: RedisServer;
}

/** Of the part between the first `{` and the next `}`, the hash tag, where there is one and it is not empty. */
export function slotOf(key: string): number {
  const from = key.indexOf('{');
  const to = from < 0 ? -1 : key.indexOf('}', from);
  return crc16(Buffer.from(to > from + 1 ? key.slice(from + 1, to) : key)) % SLOTS;
}

/**
 * What CLUSTER SLOTS answers. A server that does not know its own name is the one that was asked.
 *
 * @throws TypeError for an answer of another shape
 */
export function slotRanges(reply: unknown, asked: RedisServer): readonly SlotRange[] {
  if (!Array.isArray(reply)) throw new TypeError('the cluster answered something else than its slots');
  return reply.map((range: unknown) => {
    const [from, to, primary]: readonly unknown[] = Array.isArray(range) ? range : [];
    const [host, port]: readonly unknown[] = Array.isArray(primary) ? primary : [];
    if (!Number.isInteger(from) || !Number.isInteger(to) || !Number.isInteger(port))
      throw new TypeError('the cluster answered something else than its slots');
    const name = typeof host === 'string' && host !== '' ? host : asked.host;
    return { from: Number(from), to: Number(to), primary: { host: name, port: Number(port) } };
  });
}

/** A server by the `host:port` that another one of its cluster gave; without a host it is that one's. */
export function serverAt(text: string, giver: RedisServer): RedisServer {
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon).replace(/^\[|\]$/g, '') || giver.host;
  return { host, port: Number(text.slice(colon + 1)) };
}

/** CRC-16/XMODEM, as the specification of Redis Cluster has it. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (REMAINDERS[(crc >> 8) ^ byte] ?? 0);
  return crc;
}

const REMAINDERS = Uint16Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte << 8;
  for (let bit = 0; bit < 8; bit += 1)
    remainder = remainder & 0x8000 ? (remainder << 1) ^ 0x1021 : remainder << 1;
  return remainder;
});
