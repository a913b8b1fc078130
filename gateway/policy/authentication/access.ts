// What the authentication policy speaks: who may call, who called, and its refusals.
// Read by the pipeline, the identity verifiers and the plan; the rules beside it decide.
import type { MaybePromise } from '../contract.ts';

export type AccessRule = { readonly kind: 'public' } | IdentifiedRule;

/** Only who is known may call. */
export interface IdentifiedRule {
  readonly kind: 'identified';
  /** Names of identities in `config/gateway.yaml`, in the order in which they are asked; at least one. */
  readonly identities: readonly string[];
  /** Scopes that must all be present: `read` for GET, HEAD and OPTIONS, `write` for the rest. */
  readonly scopes: { readonly read: readonly string[]; readonly write: readonly string[] };
}

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
}

export type AuthenticationRefusal =
  /** No credentials, or of another scheme than Bearer: 401 without an error code (RFC 6750 §3.1). */
  | { readonly reason: 'credentials_missing' }
  /** Two Authorization lines, or not a token68 (AUTH-1): 400 invalid_request. */
  | { readonly reason: 'credentials_malformed' }
  /** `description` is safe to show: %x20-21 / %x23-5B / %x5D-7E (AUTH-2). */
  | { readonly reason: 'token_invalid'; readonly description: string; readonly flaw?: TokenFlaw }
  | { readonly reason: 'scope_insufficient'; readonly required: readonly string[] };

/**
 * What is wrong with a token, for operators alone: a client learns no more than expired or not (AUTH-2). Where a setting of
 * the identity refused it, the name of that setting; `account` where a pin needs a claim that it does not have.
 */
export type TokenFlaw =
  | 'account'
  | 'algorithms'
  | 'audience'
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

/** What a verifier makes of a token. `unavailable`: no key could be had to judge it (503, never 401; JWT-4). */
export type Authenticated =
  | { readonly kind: 'consumer'; readonly consumer: Consumer }
  | { readonly kind: 'refused'; readonly refusal: AuthenticationRefusal }
  | { readonly kind: 'unavailable' };

/** Verifies compact tokens of one identity; a cache hit answers at once. */
export interface TokenVerifier {
  /**
   * Whether a token says of itself that it is for this identity. The word of a stranger: it picks among several identities
   * the one that judges, and nothing else.
   */
  readonly claims: (token: string) => boolean;
  readonly verify: (token: string) => MaybePromise<Authenticated>;
}
