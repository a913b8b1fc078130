// Frames of RFC 6455 for tests: small, unfragmented, read and written for both sides.
import { createHash } from 'node:crypto';

export interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
  readonly masked: boolean;
}

export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;

const MASK = Buffer.from([7, 11, 13, 17]);

/** A whole frame; `masked` for frames of a client. */
export function frame(opcode: number, payload: Buffer | string, masked: boolean): Buffer {
  const body = Buffer.from(payload);
  const long = body.length > 125;
  const head = Buffer.alloc(long ? 10 : 2);
  head[0] = 0x80 | opcode;
  head[1] = (masked ? 0x80 : 0) | (long ? 127 : body.length);
  if (long) head.writeBigUInt64BE(BigInt(body.length), 2);
  return masked ? Buffer.concat([head, MASK, unmask(body, MASK)]) : Buffer.concat([head, body]);
}

export interface ReadFrames {
  readonly frames: readonly Frame[];
  /** The start of the next frame. */
  readonly rest: Buffer;
  /** Length of `rest` from which there is more to parse. */
  readonly needed: number;
}

export function readFrames(bytes: Buffer): ReadFrames {
  const frames: Frame[] = [];
  let rest = bytes;
  for (;;) {
    const [first, second] = rest;
    if (first === undefined || second === undefined) return { frames, rest, needed: 2 };
    const masked = (second & 0x80) !== 0;
    const short = second & 0x7f;
    const at = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (rest.length < at) return { frames, rest, needed: at };
    const length =
      short === 127 ? Number(rest.readBigUInt64BE(2)) : short === 126 ? rest.readUInt16BE(2) : short;
    const start = at + (masked ? 4 : 0);
    if (rest.length < start + length) return { frames, rest, needed: start + length };
    const body = rest.subarray(start, start + length);
    const payload = masked ? unmask(body, rest.subarray(at, start)) : body;
    frames.push({ opcode: first & 0x0f, payload, masked });
    rest = rest.subarray(start + length);
  }
}

export function acceptFor(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}

export const closeCode = ({ payload }: Frame): number | undefined =>
  payload.length < 2 ? undefined : payload.readUInt16BE(0);

function unmask(body: Buffer, mask: Buffer): Buffer {
  return Buffer.from(body.map((octet, index) => octet ^ (mask[index % 4] ?? 0)));
}
