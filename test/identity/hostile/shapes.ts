// Texts that are not a compact JWS in canonical base64url, or that are too long (JWT-1, JWT-8).
import {
  ALPHABET,
  base64url,
  filledClaims,
  type HostileToken,
  headerWith,
  json,
  type Make,
  PASS,
  spoilt,
} from './ways.ts';

/** A token of `wanted` characters. A base64url part cannot have every length, so the header is padded. */
const ofLength =
  (wanted: number): Make =>
  (issuers) => {
    for (let padding = Math.floor((wanted - 430) * 0.75) - 220; padding < wanted; padding += 1) {
      for (const spare of ['', 'x', 'xx']) {
        const text = headerWith(`,"x":"${spare}"`);
        const length = base64url(text).length + 2 + 342;
        const filled = filledClaims(issuers, padding);
        if (base64url(filled).length + length === wanted) return issuers.main.sign(filled, text);
      }
    }
    throw new Error('no token has this length');
  };
/** The same bytes with spare bits set in the last character. */
const respelt = (part: string) => {
  const last = ALPHABET.indexOf(part.at(-1) ?? '');
  const other = part.slice(0, -1) + ALPHABET[last + 1];
  if (!Buffer.from(other, 'base64url').equals(Buffer.from(part, 'base64url'))) throw new Error('other bytes');
  return other;
};

export const NO_TOKENS: readonly HostileToken[] = [
  // The verifier accepts only one compact JWS in canonical base64url.
  ['a word', () => 'hello', 401, 'malformed'],
  ['one dot', () => '.', 401, 'malformed'],
  ['two dots', () => '..', 401, 'malformed'],
  ['two empty objects and no signature', () => 'e30.e30.', 401, 'malformed'],
  ['an empty header', spoilt((parts) => `.${parts.payload}.${parts.signature}`), 401, 'malformed'],
  ['an empty payload', spoilt((parts) => `${parts.header}..${parts.signature}`), 401, 'malformed'],
  ['an empty signature', spoilt((parts) => `${parts.header}.${parts.payload}.`), 401, 'malformed'],
  ['two parts', spoilt((parts) => `${parts.header}.${parts.payload}`), 401, 'malformed'],
  ['a trailing dot', spoilt((_, token) => `${token}.`), 401, 'malformed'],
  ['a dot before', spoilt((_, token) => `.${token}`), 401, 'malformed'],
  ['four parts', spoilt((_, token) => `${token}.AA`), 401, 'malformed'],
  ['five parts, as JWE has', spoilt((_, token) => `${token}.AA.AA`), 401, 'malformed'],
  ['a JWE by its header', () => `${json({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.AA.AA.AA.AA`, 401, 'malformed'],
  [
    'enc in three parts',
    () => `${json({ alg: 'dir', enc: 'A256GCM', typ: 'at+jwt' })}.AA.AA`,
    401,
    'algorithms',
  ],
  ['padding at the end', spoilt((_, token) => `${token}==`), 401, 'malformed'],
  [
    'a + in it',
    spoilt((parts) => `${parts.header}.${parts.payload}.+${parts.signature.slice(1)}`),
    401,
    'malformed',
  ],
  [
    'a / in it',
    spoilt((parts) => `${parts.header}.${parts.payload}./${parts.signature.slice(1)}`),
    401,
    'malformed',
  ],
  [
    'a ~ in it',
    spoilt((parts) => `${parts.header}.${parts.payload}.~${parts.signature.slice(1)}`),
    401,
    'malformed',
  ],
  [
    'a part of impossible length',
    spoilt((parts) => `${parts.header}.${parts.payload}.AAAAA`),
    401,
    'malformed',
  ],
  [
    'a signature in another spelling',
    spoilt((parts) => `${parts.header}.${parts.payload}.${respelt(parts.signature)}`),
    401,
    'malformed',
  ],
  ['JSON serialization in base64url', spoilt((parts) => json(parts)), 401, 'malformed'],
  ['a token encoded again in base64url', spoilt((_, token) => base64url(token)), 401, 'malformed'],
  ['of 8191 characters', ofLength(8191), 200, PASS],
  ['of 8192 characters', ofLength(8192), 200, PASS],
  ['of 8193 characters', ofLength(8193), 401, 'token_invalid'],
];
