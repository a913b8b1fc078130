// What the authentication policy speaks: who may call, who called, and its refusals; and whether a caller may use a method.
import type { EpochMs, Fields, MaybePromise } from '../contract.ts';
import type { IdPrefixes } from '../notation.ts';

export type AccessRule = { readonly kind: 'public' } | IdentifiedRule;

/** Only who is known may call. */
export interface IdentifiedRule {
  readonly kind: 'identified';
  /** Names of identities in `config/gateway.yaml`, in the order in which they are asked; at least one. */
  readonly identities: readonly string[];
  /** What their credentials are asked for by, each once, in the same order. */
  readonly schemes: readonly CredentialScheme[];
  /** Whether a request without any credential passes, known by nobody, where no scope is needed. */
  readonly anonymous: boolean;
  /** CACHE-2: where it passes, the fields of all credentials, joined by ", "; else empty. */
  readonly vary: string;
  /** `read` for GET, HEAD and OPTIONS, `write` for the rest. */
  readonly scopes: { readonly read: ScopeRule; readonly write: ScopeRule };
}

/** All of them are needed; none: whoever is known may. Undefined: nothing was said, so that nobody may (least privilege). */
export type ScopeRule = readonly string[] | undefined;

/** How a credential is asked for (RFC 9110 section 11.6.1). Only the first is registered: AUTH-3 knows of no other. */
export type CredentialScheme =
  | { readonly scheme: 'Bearer'; readonly issuers: readonly string[] }
  /** `header`: as written in the gateway file. */
  | { readonly scheme: 'ApiKey'; readonly header: string }
  | { readonly scheme: 'ClientCertificate' };

/** The authenticated application that calls. */
export interface Consumer {
  readonly id: string;
  /** Whether the id comes from a claim that names an application (`client_id`, `azp`), so that it may label a metric. */
  readonly named: boolean;
  /** What it was known by. */
  readonly via: 'token' | 'key' | 'certificate';
  readonly scopes: ReadonlySet<string>;
  /** Everything its verified token says, for rules that look at a claim; never shown. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** What its id has before it, for whatever else names somebody in its token. */
  readonly prefixes?: IdPrefixes | undefined;
  /** When what it showed ends by a date of its own, as what a token is bound to does; its `exp` is among its claims. */
  readonly ends?: EpochMs | undefined;
  /** Whether that is taken back by now, or was replaced: asked for as long as something is open. Absent: it never is. */
  readonly isRevoked?: () => boolean;
}

/** The certificate with which a connection was opened, proven by the authority that the listener trusts. */
export interface ClientCertificate {
  /** Undefined where there is none or more than one. */
  readonly commonName: string | undefined;
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
  /** SHA-256 of it, lower-case hex. */
  readonly fingerprint: string;
  /** The first instant at which it is not good any more. */
  readonly ends: EpochMs;
}

/** What of a request can say who calls. */
export interface Carried {
  readonly headers: Fields;
  /** An IPv6 address as its /64 network; undefined where nobody asks over a network. */
  readonly clientAddress?: string;
  readonly clientCertificate?: ClientCertificate | undefined;
}

export type AuthenticationRefusal =
  /** No credentials, or of another scheme than Bearer: 401 without an error code (RFC 6750 §3.1). */
  | { readonly reason: 'credentials_missing' }
  /** Two lines of a field, or not a token68 (AUTH-1): 400, for tokens invalid_request. `field`: as written. */
  | { readonly reason: 'credentials_malformed'; readonly field: string }
  /** `description` is safe to show: %x20-21 / %x23-5B / %x5D-7E (AUTH-2). */
  | { readonly reason: 'token_invalid'; readonly description: string; readonly flaw?: TokenFlaw }
  /** One answer whatever is wrong with it, so that nobody learns which keys there are (AUTH-2). */
  | { readonly reason: 'key_invalid'; readonly flaw: KeyFlaw }
  /** Proven once, but it has ended since, or does not say who calls in the place that the identity reads. */
  | { readonly reason: 'certificate_invalid' }
  /** `via`: what the consumer showed. */
  | {
      readonly reason: 'scope_insufficient';
      readonly required: readonly string[];
      readonly via: Consumer['via'];
    }
  /** No rule says who may use this method. */
  | { readonly reason: 'operation_not_granted' };

/** What is wrong with an API key, for operators alone. `checksum`: mistyped, or made up. */
export type KeyFlaw = 'checksum' | 'unknown' | 'revoked' | 'expired';

/**
 * What is wrong with a token, for operators alone: a client learns no more than expired or not (AUTH-2). Where a setting of
 * the identity refused it, the name of that setting; `account` where a pin needs a claim that it does not have, `binding`
 * where it is bound to a certificate or a key that the request does not show.
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
 * What becomes of a credential. `unavailable`: nothing could be had to judge it by (503, never 401; JWT-4). `limited`: the
 * address has had too many judged that were none (429, since this one may be good; RL-7).
 */
export type Authenticated =
  | { readonly kind: 'consumer'; readonly consumer: Consumer }
  | { readonly kind: 'refused'; readonly refusal: AuthenticationRefusal }
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number }
  | { readonly kind: 'unavailable' };

/** Of a token, whoever shows it. `boundTo`: SHA-256 of the certificate that has to come with it, lower-case hex. */
export type Verified =
  | { readonly kind: 'consumer'; readonly consumer: Consumer; readonly boundTo?: string }
  | Exclude<Authenticated, { kind: 'consumer' }>;

/** Verifies compact tokens of one identity; a cache hit answers at once. */
export interface TokenVerifier {
  /**
   * Whether a token says of itself that it is for this identity. The word of a stranger: it picks among several identities
   * the one that judges, and nothing else.
   */
  readonly claims: (token: string) => boolean;
  /** The verdict remembered for the token of exactly this field line; undefined: `verify` decides. */
  readonly known?: (line: string) => Verified | undefined;
  readonly verify: (token: string, clientAddress?: string) => MaybePromise<Verified>;
}

/** One identity, able to judge what requests carry. */
export interface Authenticator {
  readonly via: Consumer['via'];
  /** The header in which its credentials come, as written; undefined: in none. */
  readonly field?: string;
  /** Whether the request carries a credential of its kind, whatever that is worth. */
  readonly isPresent: (carried: Carried) => boolean;
  /** Whether that says of itself that it is for this identity: picks one among several of a kind, and nothing else. */
  readonly claims: (carried: Carried) => boolean;
  /** Also of a request without a credential of its kind, which is refused; a cache hit answers at once. */
  readonly judge: (carried: Carried) => MaybePromise<Authenticated>;
}

/**
 * Undefined when the rule lets the request pass. Every scope of the method's kind must be there; GET, HEAD and OPTIONS
 * read, every other method, also one nobody has heard of, writes. What no rule speaks of is refused to everybody, and a
 * caller without credentials holds no scope.
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
