// Remembers which issuer a token names, so that a token seen before is not taken apart again to pick who judges it.
// Shared by the verifiers of one gateway; asked only where an API takes tokens of several issuers.
import { createRecentMap } from './recent-map.ts';
import { issuerOf } from './token-shape.ts';

const MOST = 10_000;
const MOST_CHARACTERS = 4_000_000;

/** Who a token says has issued it, unproven; undefined for what is no JWT. */
export type IssuerOf = (token: string) => unknown;

export function createKnownIssuers(): IssuerOf {
  const known = createRecentMap<{ readonly issuer: unknown }>(MOST, MOST_CHARACTERS);
  return (token) => {
    const entry = known.get(token);
    if (entry !== undefined) return entry.issuer;
    const issuer = issuerOf(token);
    known.set(token, { issuer });
    return issuer;
  };
}
