// The notation of a scope.
import { notation } from '../notation.ts';

/** scope-token of RFC 6749 section 3.3. */
export const scope = notation(
  (text) => (/^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(text) ? text : undefined),
  'not a scope: no spaces, quotes or backslashes',
  { description: 'A scope.', examples: ['orders:read'] },
);
