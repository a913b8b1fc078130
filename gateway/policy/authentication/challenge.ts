// The WWW-Authenticate values of an authentication refusal: one challenge per scheme (RFC 9110 §11.6.1).
import type { AuthenticationRefusal, Consumer, CredentialScheme } from './access.ts';
import { BEARER_FIELD } from './token-authenticator.ts';

export interface ChallengeContext {
  readonly realm: string;
  readonly schemes: readonly CredentialScheme[];
  /** URL of the protected resource metadata, which lists the trusted issuers (RFC 9728 §5.1). */
  readonly resourceMetadata: string | undefined;
}

type Scheme = CredentialScheme['scheme'];

const SCHEME_OF: Readonly<Record<Consumer['via'], Scheme>> = {
  token: 'Bearer',
  key: 'ApiKey',
  certificate: 'ClientCertificate',
};

/**
 * AUTH-2, AUTH-3: one field value per challenge, in the order of the identities. Only the scheme that failed gets an error
 * code. A request without credentials gets none (RFC 6750 §3.1). A 403 challenges only the scheme that was used, for more
 * scopes.
 */
export function challengesFor(refusal: AuthenticationRefusal, context: ChallengeContext): readonly string[] {
  const schemes = context.schemes.filter(isFirstOfItsScheme);
  const all = (to?: Scheme, error = ''): readonly string[] =>
    schemes.map((each) =>
      each.scheme === to ? bareChallenge(each, context) + error : challengeWithMetadata(each, context),
    );
  switch (refusal.reason) {
    case 'credentials_missing':
    case 'key_invalid':
    case 'certificate_invalid':
      return all();
    case 'credentials_malformed':
      return refusal.field === BEARER_FIELD ? all('Bearer', ', error="invalid_request"') : all();
    case 'token_invalid':
      return all('Bearer', `, error="invalid_token", error_description="${quotable(refusal.description)}"`);
    case 'scope_insufficient': {
      const used = SCHEME_OF[refusal.via];
      const error = `, error="insufficient_scope", scope="${quotable(refusal.required.join(' '))}"`;
      return schemes
        .filter(({ scheme }) => scheme === used)
        .map((each) => bareChallenge(each, context) + error);
    }
    case 'operation_not_granted':
      return [];
    default:
      return refusal satisfies never;
  }
}

/** The challenge before any attempt: it includes the URL that lists the issuers. */
function challengeWithMetadata(scheme: CredentialScheme, context: ChallengeContext): string {
  const { resourceMetadata } = context;
  const challenge = bareChallenge(scheme, context);
  return scheme.scheme === 'Bearer' && resourceMetadata !== undefined
    ? `${challenge}, resource_metadata="${quotable(resourceMetadata)}"`
    : challenge;
}

/** The ApiKey challenge lists the headers of all identities, because the client may have a key for any of them. */
function bareChallenge({ scheme }: CredentialScheme, { realm, schemes }: ChallengeContext): string {
  const challenge = `${scheme} realm="${quotable(realm)}"`;
  if (scheme !== 'ApiKey') return challenge;
  const headers = schemes.flatMap((each) => (each.scheme === 'ApiKey' ? each.header : []));
  return `${challenge}, header="${quotable([...new Set(headers)].join(', '))}"`;
}

function isFirstOfItsScheme(
  { scheme }: CredentialScheme,
  index: number,
  schemes: readonly CredentialScheme[],
): boolean {
  return schemes.findIndex((other) => other.scheme === scheme) === index;
}

/** RFC 6750 §3 allows printable ASCII without `"` and `\`. Other characters are dropped, so nothing needs an escape. */
function quotable(text: string): string {
  return text.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '');
}
