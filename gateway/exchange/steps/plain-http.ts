// The response of the plain HTTP listener if it does not serve: 400, or a redirect to the https URL (TLS-5).

import { hostKey } from '../../plan/grammar/addresses.ts';
import type { GatewayPlan } from '../../plan/plan.ts';
import type { PlainMode } from '../../plan/settings.ts';
import type { RequestRefusal } from '../directive.ts';
import type { RequestView } from '../request-view.ts';
import { credentialInQuery } from './authenticate.ts';

/**
 * Headers that commonly carry credentials, besides the key headers of the APIs. A redirect would hide that a
 * credential crossed the network unencrypted.
 */
const CREDENTIAL_FIELDS = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
  'api-key',
  'apikey',
  'x-auth-token',
];
/** Query parameters that commonly carry credentials, besides those of the plan. */
const CREDENTIAL_PARAMETERS = [
  'access_token',
  'refresh_token',
  'id_token',
  'client_secret',
  'api_key',
  'apikey',
];

/** `view`: undefined for a malformed request, and for one without a resource. */
export function plainRefusal(
  mode: Exclude<PlainMode, 'serve'>,
  view: RequestView | undefined,
  plan: Pick<GatewayPlan, 'apis' | 'public' | 'routes' | 'credentialsInUrl'>,
): RequestRefusal {
  // A trusted proxy terminated TLS for this client, so a redirect to https would loop.
  if (mode === 'reject' || view === undefined || view.scheme === 'https' || carriesCredentials(view, plan))
    return { reason: 'plain_http' };
  const status = view.method === 'GET' || view.method === 'HEAD' ? 301 : 308;
  return {
    reason: 'plain_http_moved',
    status,
    location: httpsOrigin(view.host, plan) + view.path + view.search,
  };
}

function carriesCredentials(
  { headers, search }: RequestView,
  { apis, credentialsInUrl }: Pick<GatewayPlan, 'apis' | 'credentialsInUrl'>,
): boolean {
  return (
    [...CREDENTIAL_FIELDS, ...apis.flatMap((api) => api.keyHeaders)].some(
      (name) => headers.get(name) !== undefined,
    ) || credentialInQuery(search, new Set([...CREDENTIAL_PARAMETERS, ...credentialsInUrl])) !== undefined
  );
}

/**
 * The origin of `public`. Another host only if a policy file names it: the Host of the client is not trusted.
 */
function httpsOrigin(
  host: string,
  { public: origin, routes }: Pick<GatewayPlan, 'public' | 'routes'>,
): string {
  const url = new URL(origin);
  if (hostKey(host) === hostKey(url.hostname) || !routes.knowsHost(host)) return origin;
  return `https://${host}${url.port === '' ? '' : `:${url.port}`}`;
}
