// Reads the bearer token of a request, verifies it and checks its binding to a client certificate.
import type { EpochMs, Fields } from '../contract.ts';
import type {
  AuthenticationRefusal,
  AuthenticationResult,
  Authenticator,
  CallerEvidence,
  ClientCertificate,
  TokenOutcome,
  TokenVerifier,
} from './access.ts';

type Bearer =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'refused'; readonly refusal: AuthenticationRefusal };

export const BEARER_FIELD = 'Authorization';
/** JWT-8, in characters. A token68 has one byte per character. */
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

export const lineOf = (token: string): string => `Bearer ${token}`;

/**
 * AUTH-1: the scheme matches in any case. A missing or empty line or another scheme means no credentials. A second line, or
 * `Bearer` without exactly one token68, is malformed. The caller must join a second line with a comma: Node drops it by
 * default.
 */
export function readBearer(headers: Fields): Bearer {
  const line = headers.get('authorization');
  if (line === undefined || line === '') return MISSING;
  const token = CREDENTIALS.exec(line)?.[1];
  if (token === undefined) return BEARER_SCHEME.test(line) ? MALFORMED : MISSING;
  return token.length > LONGEST_TOKEN ? TOO_LONG : { kind: 'token', token };
}

/** `certificate`: SHA-256, lower-case hex. `other`: a key (DPoP) or an unknown method, which no request can satisfy. */
export type Binding =
  | { readonly kind: 'none' }
  | { readonly kind: 'other' }
  | { readonly kind: 'certificate'; readonly fingerprint: string };

const NONE: Binding = { kind: 'none' };
const OTHER: Binding = { kind: 'other' };

/** 32 bytes in base64url. The four unused bits of the last character must be zero, so that each digest has one spelling. */
const SHA_256 = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/**
 * Reads `cnf` (RFC 7800 §3.1). Only a certificate digest as its single member is a binding to a certificate (RFC 8705
 * §3.1). A second member would stay unverified.
 */
export function bindingOf(claims: Readonly<Record<string, unknown>>): Binding {
  if (!Object.hasOwn(claims, 'cnf')) return NONE;
  const { cnf } = claims;
  if (typeof cnf !== 'object' || cnf === null || Array.isArray(cnf)) return OTHER;
  const [[name, digest] = [], ...others] = Object.entries(cnf);
  if (name !== 'x5t#S256' || others.length > 0) return OTHER;
  if (typeof digest !== 'string' || !SHA_256.test(digest)) return OTHER;
  return { kind: 'certificate', fingerprint: Buffer.from(digest, 'base64url').toString('hex') };
}

/** RFC 8705 §3. A plain comparison is safe here: certificates are public, so its timing reveals no secret. */
function showsCertificate(
  shown: ClientCertificate | undefined,
  fingerprint: string,
  now: EpochMs,
): shown is ClientCertificate {
  // The handshake verified the certificate, perhaps long ago, so its end is checked again.
  return shown !== undefined && shown.fingerprint === fingerprint && now < shown.ends;
}

/** AUTH-2: the description for every invalid token that has not expired. */
export const NOT_VALID = 'The access token is not valid';

const NOT_BOUND: AuthenticationResult = {
  kind: 'refused',
  refusal: { reason: 'token_invalid', description: NOT_VALID, flaw: 'binding' },
};

/** `now`: the real clock. */
export function tokenAuthenticator(now: () => EpochMs, verifier: TokenVerifier): Authenticator {
  /** JWT-6: refuses a bound token without its certificate. The consumer expires with the certificate. */
  const checkBinding = (
    verified: TokenOutcome,
    { clientCertificate: shown }: CallerEvidence,
  ): AuthenticationResult => {
    if (verified.kind !== 'consumer' || verified.boundTo === undefined) return verified;
    return showsCertificate(shown, verified.boundTo, now())
      ? { kind: 'consumer', consumer: { ...verified.consumer, ends: shown.ends } }
      : NOT_BOUND;
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
      if (known !== undefined) return checkBinding(known, carried);
      const bearer = readBearer(carried.headers);
      if (bearer.kind === 'refused') return bearer;
      const verified = verifier.verify(bearer.token, carried.clientAddress);
      return verified instanceof Promise
        ? verified.then((each) => checkBinding(each, carried))
        : checkBinding(verified, carried);
    },
  };
}
