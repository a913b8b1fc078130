// Hostile tokens by signature: values that some verifiers accept, and changed tokens (JWT-1).
import { createHash } from 'node:crypto';
import { type HostileToken, json, PASS, partsOf, signature, spoilt } from './ways.ts';

/** ECDSA-Sig-Value of RFC 3279 instead of the two concatenated numbers. */
const der = (raw: Buffer) => {
  const integer = (bytes: Buffer) => {
    const padded = Buffer.concat([Buffer.from([0]), bytes]);
    return Buffer.concat([Buffer.from([2, padded.length]), padded]);
  };
  const both = Buffer.concat([integer(raw.subarray(0, 32)), integer(raw.subarray(32))]);
  return Buffer.concat([Buffer.from([0x30, both.length]), both]);
};
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const number = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');

export const SIGNATURES: readonly HostileToken[] = [
  ['ES256, all zeros', signature((good) => Buffer.alloc(good.length)), 401, 'signature'],
  [
    'ES256, r and s the order of the curve',
    signature(() => Buffer.concat([number(P256_ORDER), number(P256_ORDER)])),
    401,
    'signature',
  ],
  [
    'ES256, r = 0',
    signature((good) => Buffer.concat([Buffer.alloc(32), good.subarray(32)])),
    401,
    'signature',
  ],
  [
    'ES256, s = 0',
    signature((good) => Buffer.concat([good.subarray(0, 32), Buffer.alloc(32)])),
    401,
    'signature',
  ],
  ['ES256, r = s = 1', signature(() => Buffer.concat([number(1n), number(1n)])), 401, 'signature'],
  ['ES256 as DER', signature(der), 401, 'signature'],
  ['ES256, one byte short', signature((good) => good.subarray(0, 63)), 401, 'signature'],
  ['ES256, one byte long', signature((good) => Buffer.concat([good, Buffer.alloc(1)])), 401, 'signature'],
  [
    'ES256, halves swapped',
    signature((good) => Buffer.concat([good.subarray(32), good.subarray(0, 32)])),
    401,
    'signature',
  ],
  [
    // Both values of s are valid (RFC 7518 §3.4 does not require a low s). The cache key is the whole token.
    'ES256, s replaced by the order minus s',
    signature((good) =>
      Buffer.concat([
        good.subarray(0, 32),
        number(P256_ORDER - BigInt(`0x${good.subarray(32).toString('hex')}`)),
      ]),
    ),
    200,
    PASS,
  ],
  ['RS256, all zeros', signature(() => Buffer.alloc(256), 'RS256'), 401, 'signature'],
  [
    'RS256, the number 1',
    signature(() => Buffer.concat([Buffer.alloc(255), Buffer.from([1])]), 'RS256'),
    401,
    'signature',
  ],
  ['RS256, one byte short', signature((good) => good.subarray(1), 'RS256'), 401, 'signature'],
  [
    'RS256, a leading zero',
    signature((good) => Buffer.concat([Buffer.alloc(1), good]), 'RS256'),
    401,
    'signature',
  ],
  ['RS256, a flipped bit', signature((good) => good.with(9, (good[9] ?? 0) ^ 1), 'RS256'), 401, 'signature'],
  [
    'RS256, a hash instead of a signature',
    spoilt(
      (parts) =>
        `${parts.header}.${parts.payload}.${createHash('sha256').update(`${parts.header}.${parts.payload}`).digest('base64url')}`,
    ),
    401,
    'signature',
  ],
  [
    'a changed claim',
    spoilt(
      (parts, _token, { main }) =>
        `${parts.header}.${json({ sub: 'root', iss: main.url })}.${parts.signature}`,
    ),
    401,
    'signature',
  ],
  [
    'the signature of another token',
    async ({ main }) =>
      `${(await main.sign({ a: 1 })).replace(/[^.]+$/, '')}${partsOf(await main.sign({ a: 2 })).signature}`,
    401,
    'signature',
  ],
];
