// Responses about the caller's identity: status, message, and a challenge for each authentication method of the API.
import type { GatewayPlan } from '../../plan/plan.ts';
import type {
  AuthenticationRefusal,
  Consumer,
  CredentialScheme,
} from '../../policy/authentication/access.ts';
import { challengesFor } from '../../policy/authentication/challenge.ts';
import { BEARER_FIELD } from '../../policy/authentication/token-authenticator.ts';
import type { RefusedFacts } from '../facts.ts';
import { metadataUrlOf } from '../publish/protected-resource.ts';
import { type ErrorDescription, refuse } from './error-body.ts';

export const CREDENTIALS: Readonly<Record<Consumer['via'], string>> = {
  token: 'access token',
  key: 'API key',
  certificate: 'client certificate',
};

/** AUTH-2: with the challenges of the requested version, else of its API. */
export function challenge(
  status: number,
  message: string,
  refusal: AuthenticationRefusal,
  facts: RefusedFacts,
): ErrorDescription {
  const { api, plan } = facts;
  const values = challengesFor(refusal, {
    realm: api?.name ?? 'api',
    schemes: schemesOf(facts),
    resourceMetadata: api && metadataUrlOf(plan, api),
  });
  const [only, ...more] = values;
  const error = status === 403 ? 'http_request_denied' : 'http_request_error';
  const headers = only === undefined ? {} : { 'www-authenticate': more.length === 0 ? only : [...values] };
  return refuse(status, message, {}, headers, error);
}

export function missingText(facts: RefusedFacts): string {
  const schemes = schemesOf(facts);
  const isTokens = schemes.every(({ scheme }) => scheme === 'Bearer');
  const what = isTokens ? 'an access token' : 'credentials';
  const advice = [...new Set(schemes.map(schemeAdvice))];
  return `This API needs ${what}: ${advice.join(', or ') || TOKEN_ADVICE}.`;
}

export function malformedText(field: string): string {
  const instead = field === BEARER_FIELD ? 'one line, Bearer <token>' : 'one line with one key';
  return `The ${field} header is malformed: send ${instead}.`;
}

const TOKEN_ADVICE = 'send Authorization: Bearer <token>';

function schemeAdvice(scheme: CredentialScheme): string {
  switch (scheme.scheme) {
    case 'Bearer':
      return TOKEN_ADVICE;
    case 'ApiKey':
      return `send ${scheme.header}: <key>`;
    case 'ClientCertificate':
      return 'connect with a client certificate';
    default:
      return scheme satisfies never;
  }
}

function schemesOf({ api, version, plan }: RefusedFacts): readonly CredentialScheme[] {
  if (api === undefined) return everyScheme(plan);
  const rule = [version?.access, api?.access].find((access) => access?.kind === 'identified');
  return rule?.kind === 'identified' ? rule.schemes : [];
}

/** Ways to authenticate with any API. */
export function everyScheme({ apis }: GatewayPlan): readonly CredentialScheme[] {
  const rules = apis.flatMap(({ access, versions }) => [
    access,
    ...versions.values().map((each) => each.access),
  ]);
  return rules.flatMap((rule) => (rule.kind === 'identified' ? rule.schemes : []));
}
