// Remembers which issuer a token names, so that a token seen before is not taken apart again to pick who judges it.
// Shared by the verifiers of one gateway; asked only where an API takes tokens of several issuers.
import { LRUCache } from 'lru-cache';
import { issuerOf } from './token-shape.ts';

const MOST = 10_000;
const MOST_CHARACTERS = 4_000_000;
/** As in the token cache: no two honest tokens share it, and the whole token is compared all the same. */
const KEY_CHARACTERS = 43;

/** Who a token says has issued it, unproven; undefined for what is no JWT. */
export type IssuerOf = (token: string) => unknown;

export function createKnownIssuers(): IssuerOf {
  const known = new LRUCache<string, { readonly token: string; readonly issuer: unknown }>({
    max: MOST,
    maxSize: MOST_CHARACTERS,
    sizeCalculation: ({ token }) => token.length,
  });
  return (token) => {
    const key = token.slice(-KEY_CHARACTERS);
    const entry = known.get(key);
    if (entry !== undefined && entry.token === token) return entry.issuer;
    const issuer = issuerOf(token);
    known.set(key, { token, issuer });
    return issuer;
  };
}
