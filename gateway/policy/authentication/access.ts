// Types of the authentication policy, and the check whether a consumer may use a method.
import type { EpochMs, Fields, MaybePromise } from '../contract.ts';
import type { IdPrefixes } from '../notation.ts';

export type AccessRule = { readonly kind: 'public' } | IdentifiedRule;

export interface IdentifiedRule {
  readonly kind: 'identified';
  /** Names of identities in `config/gateway.yaml`, at least one, in the order in which they are tried. */
  readonly identities: readonly string[];
  /** The scheme of each identity in the same order, without duplicates. */
  readonly schemes: readonly CredentialScheme[];
  /** Whether a request without credentials passes as an anonymous caller, for methods that need no scope. */
  readonly anonymous: boolean;
  /** The value of `Vary` for anonymous access (CACHE-2): all credential fields, joined by ", ". Empty without it. */
  readonly vary: string;
  /** `read` for GET, HEAD and OPTIONS, `write` for the rest. */
  readonly scopes: { readonly read: ScopeRule; readonly write: ScopeRule };
}

/**
 * The consumer needs every scope. An empty list admits every known consumer. Undefined means that no rule exists, and the
 * gateway refuses all callers (least privilege).
 */
export type ScopeRule = readonly string[] | undefined;

/**
 * How a challenge asks for a credential (RFC 9110 section 11.6.1). Only Bearer is a registered scheme: AUTH-3 knows no
 * other.
 */
export type CredentialScheme =
  | { readonly scheme: 'Bearer'; readonly issuers: readonly string[] }
  /** `header`: spelled as in the gateway file. */
  | { readonly scheme: 'ApiKey'; readonly header: string }
  | { readonly scheme: 'ClientCertificate' };

export interface Consumer {
  readonly id: string;
  /** Whether the id may label a metric. Ids from claims that name an application (`client_id`, `azp`) may. */
  readonly mayLabelMetrics: boolean;
  readonly via: 'token' | 'key' | 'certificate';
  readonly scopes: ReadonlySet<string>;
  /** All verified claims of its token, for rules that read a claim. The gateway never shows them. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** For ids from other claims of the same token, such as the account of a pin. */
  readonly prefixes?: IdPrefixes | undefined;
  /** When the certificate or key behind it expires. The `exp` of a token is in `claims` instead. */
  readonly ends?: EpochMs | undefined;
  /**
   * Whether the credential has been revoked or replaced. Long-lived connections call this again. Absent: it cannot be
   * revoked.
   */
  readonly isRevoked?: () => boolean;
}

/** The client certificate of a connection, verified against the authority that the listener trusts. */
export interface ClientCertificate {
  /** Undefined if the certificate has no common name or several. */
  readonly commonName: string | undefined;
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
  /** SHA-256, lower-case hex. */
  readonly fingerprint: string;
  /** The first instant at which the certificate is no longer valid. */
  readonly ends: EpochMs;
}

export interface CallerEvidence {
  readonly headers: Fields;
  /** An IPv6 address is shortened to its /64 network. Undefined if the request did not come over a network. */
  readonly clientAddress?: string;
  readonly clientCertificate?: ClientCertificate | undefined;
}

export type AuthenticationRefusal =
  /** No credentials, or a scheme other than Bearer: 401 without an error code (RFC 6750 §3.1). */
  | { readonly reason: 'credentials_missing' }
  /**
   * Two lines of one field, or a value that is no token68 (AUTH-1): 400. For tokens the error is invalid_request. `field`:
   * spelled as in the gateway file.
   */
  | { readonly reason: 'credentials_malformed'; readonly field: string }
  /** `description` goes to the client. It contains only %x20-21 / %x23-5B / %x5D-7E (AUTH-2). */
  | { readonly reason: 'token_invalid'; readonly description: string; readonly flaw?: TokenFlaw }
  /** The client gets the same response for every flaw, so that it cannot find out which keys exist (AUTH-2). */
  | { readonly reason: 'key_invalid'; readonly flaw: KeyFlaw }
  | { readonly reason: 'certificate_invalid' }
  /** `via`: the kind of credential that the consumer used. */
  | {
      readonly reason: 'scope_insufficient';
      readonly required: readonly string[];
      readonly via: Consumer['via'];
    }
  | { readonly reason: 'operation_not_granted' };

/** What is wrong with an API key. Only operators see it. `checksum`: the key is mistyped or invented. */
export type KeyFlaw = 'checksum' | 'unknown' | 'revoked' | 'expired';

/**
 * What is wrong with a token. Only operators see it: the client learns only whether the token expired (AUTH-2). If a
 * setting of the identity refused the token, the flaw is the name of that setting. `account`: the token lacks the claim
 * that a pin needs. `binding`: the request does not show the certificate or key that the token is bound to.
 */
export type TokenFlaw =
  | 'account'
  | 'algorithms'
  | 'audience'
  | 'binding'
  | 'claims'
  | 'consumer'
  | 'expired'
  | 'inactive'
  | 'issuer'
  | 'key_unknown'
  | 'malformed'
  | 'max_lifetime'
  | 'not_yet'
  | 'signature'
  | 'types';

/**
 * The result of an authentication. `unavailable`: no key or issuer was available to verify the credential (503, never 401;
 * JWT-4). `limited`: the address sent too many invalid tokens (429, because this token may be valid; RL-7).
 */
export type AuthenticationResult =
  | { readonly kind: 'consumer'; readonly consumer: Consumer }
  | { readonly kind: 'refused'; readonly refusal: AuthenticationRefusal }
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number }
  | { readonly kind: 'unavailable' };

/** The result for a token, independent of the client. `boundTo`: SHA-256 of the required client certificate, lower-case hex. */
export type TokenOutcome =
  | { readonly kind: 'consumer'; readonly consumer: Consumer; readonly boundTo?: string }
  | Exclude<AuthenticationResult, { kind: 'consumer' }>;

/** Verifies compact tokens of one identity. A cache hit returns without a promise. */
export interface TokenVerifier {
  /** Whether the unverified token names this identity. The result only selects the identity that verifies the token. */
  readonly claims: (token: string) => boolean;
  /** The cached result for this exact header line. Undefined: call `verify`. */
  readonly known?: (line: string) => TokenOutcome | undefined;
  readonly verify: (token: string, clientAddress?: string) => MaybePromise<TokenOutcome>;
}

export interface Authenticator {
  readonly via: Consumer['via'];
  /** The header that carries its credentials, spelled as in the gateway file. Undefined if no header does. */
  readonly field?: string;
  /** Whether the request carries a credential of this kind, valid or not. */
  readonly isPresent: (carried: CallerEvidence) => boolean;
  /** Whether the unverified credential names this identity. The result only selects one of several identities of a kind. */
  readonly claims: (carried: CallerEvidence) => boolean;
  /** Refuses a request without a credential of its kind. A cache hit returns without a promise. */
  readonly judge: (carried: CallerEvidence) => MaybePromise<AuthenticationResult>;
}

/**
 * Undefined if the request passes. The consumer needs every scope of the method's kind. GET, HEAD and OPTIONS read. Every
 * other method, known or not, writes.
 */
export function authorise(
  rule: IdentifiedRule,
  method: string,
  consumer: Consumer | undefined,
): AuthenticationRefusal | undefined {
  const required = isRead(method) ? rule.scopes.read : rule.scopes.write;
  if (required === undefined) return { reason: 'operation_not_granted' };
  if (consumer === undefined) return required.length === 0 ? undefined : { reason: 'credentials_missing' };
  for (const scope of required) {
    if (!consumer.scopes.has(scope)) return { reason: 'scope_insufficient', required, via: consumer.via };
  }
  return undefined;
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
