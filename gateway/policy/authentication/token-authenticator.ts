// Bearer tokens among the ways of knowing who calls: taken out of a request, bound to a certificate or not, verified.
import type { EpochMs, Fields } from '../contract.ts';
import type {
  Authenticated,
  AuthenticationRefusal,
  Authenticator,
  Carried,
  ClientCertificate,
  TokenVerifier,
  Verified,
} from './access.ts';

type Bearer =
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

/** `certificate`: by its SHA-256, lower-case hex. `other`: a key (DPoP), or what is not understood; no request shows that. */
export type Binding =
  | { readonly kind: 'none' }
  | { readonly kind: 'other' }
  | { readonly kind: 'certificate'; readonly fingerprint: string };

const NONE: Binding = { kind: 'none' };
const OTHER: Binding = { kind: 'other' };

/** 32 bytes in base64url: the four spare bits of the last character are zero, so that each digest has one spelling. */
const SHA_256 = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** Of `cnf` (RFC 7800 §3.1): a digest alone is a binding to a certificate (RFC 8705 §3.1); of two, one would go unproven. */
export function bindingOf(claims: Readonly<Record<string, unknown>>): Binding {
  if (!Object.hasOwn(claims, 'cnf')) return NONE;
  const { cnf } = claims;
  if (typeof cnf !== 'object' || cnf === null || Array.isArray(cnf)) return OTHER;
  const [[name, digest] = [], ...others] = Object.entries(cnf);
  if (name !== 'x5t#S256' || others.length > 0) return OTHER;
  if (typeof digest !== 'string' || !SHA_256.test(digest)) return OTHER;
  return { kind: 'certificate', fingerprint: Buffer.from(digest, 'base64url').toString('hex') };
}

/** RFC 8705 §3: by the very certificate, which is shown to everybody, so that the time a comparison takes tells nothing. */
function showsCertificate(
  shown: ClientCertificate | undefined,
  fingerprint: string,
  now: EpochMs,
): shown is ClientCertificate {
  // Proven when the connection was opened, which may be long ago.
  return shown !== undefined && shown.fingerprint === fingerprint && now < shown.ends;
}

/** All that a client learns of what is wrong with a token, unless that it expired (AUTH-2). */
export const NOT_VALID = 'The access token is not valid';

const UNSHOWN: Authenticated = {
  kind: 'refused',
  refusal: { reason: 'token_invalid', description: NOT_VALID, flaw: 'binding' },
};

/** `now`: the real clock. */
export function tokenAuthenticator(now: () => EpochMs, verifier: TokenVerifier): Authenticator {
  /** JWT-6: refused unless the binding is shown, and good for no longer than what shows it. */
  const settle = (verified: Verified, { clientCertificate: shown }: Carried): Authenticated => {
    if (verified.kind !== 'consumer' || verified.boundTo === undefined) return verified;
    return showsCertificate(shown, verified.boundTo, now())
      ? { kind: 'consumer', consumer: { ...verified.consumer, ends: shown.ends } }
      : UNSHOWN;
  };
  return {
    via: 'token',
    field: BEARER_FIELD,
    isPresent: ({ headers }) => {
      const bearer = readBearer(headers);
      return bearer.kind === 'token' || bearer.refusal.reason !== 'credentials_missing';
    },
    claims: ({ headers }) => {
      const bearer = readBearer(headers);
      return bearer.kind === 'token' && verifier.claims(bearer.token);
    },
    judge: (carried) => {
      const line = carried.headers.get('authorization');
      const known = line === undefined ? undefined : verifier.known?.(line);
      if (known !== undefined) return settle(known, carried);
      const bearer = readBearer(carried.headers);
      if (bearer.kind === 'refused') return bearer;
      const verified = verifier.verify(bearer.token, carried.clientAddress);
      return verified instanceof Promise
        ? verified.then((each) => settle(each, carried))
        : settle(verified, carried);
    },
  };
}
