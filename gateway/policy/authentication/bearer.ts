// Takes the bearer token out of a request (RFC 6750 §2.1), the only place a credential is accepted.
// Runs before any key is looked up; what it returns has the right characters and size, nothing more.
import type { Fields } from '../contract.ts';
import type { AuthenticationRefusal } from './access.ts';

export type Bearer =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'refused'; readonly refusal: AuthenticationRefusal };

/** Where a token is sent. */
export const BEARER_FIELD = 'Authorization';
/** JWT-8, in characters, which for a token68 are bytes. */
export const LONGEST_TOKEN = 8192;

const CREDENTIALS = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;
const BEARER_SCHEME = /^bearer(?![\w!#$%&'*+\-.^`|~])/i;

const MISSING: Bearer = { kind: 'refused', refusal: { reason: 'credentials_missing' } };
const MALFORMED: Bearer = {
  kind: 'refused',
  refusal: { reason: 'credentials_malformed', field: BEARER_FIELD },
};
const TOO_LONG: Bearer = {
  kind: 'refused',
  refusal: { reason: 'token_invalid', description: 'The access token is too long' },
};

/** The usual spelling of the line that carries `token`. */
export const lineOf = (token: string): string => `Bearer ${token}`;

/**
 * The token of `Authorization: Bearer <token68>`, scheme in any case (AUTH-1). No line, an empty one or another scheme
 * is a request without usable credentials; a second line, or `Bearer` with anything but one token68, is malformed.
 * A second line must reach this function joined by a comma: Node drops it by default.
 */
export function readBearer(headers: Fields): Bearer {
  const line = headers.get('authorization');
  if (line === undefined || line === '') return MISSING;
  const token = CREDENTIALS.exec(line)?.[1];
  if (token === undefined) return BEARER_SCHEME.test(line) ? MALFORMED : MISSING;
  return token.length > LONGEST_TOKEN ? TOO_LONG : { kind: 'token', token };
}
