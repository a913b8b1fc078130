// Configures oidc-provider: OAuth 2.0 with the rules OAU-1 to OAU-10 and nothing more.
import type { Configuration, KoaContextWithOIDC, Provider as ProviderType } from 'oidc-provider';
import { accountOf } from './accounts.ts';
import { createAdapter } from './adapter.ts';
import { limitSecretAttempts } from './client-secret.ts';
import { CLIENTS, clientOf } from './clients.ts';
import type { IssuerKey } from './key-file.ts';
import { errors, Provider } from './library.ts';
import { filterMetadata } from './metadata.ts';
import {
  renderError,
  renderSignedOut,
  renderSignOut,
  renderSignOutWithoutSession,
} from './provider-pages.ts';
import { clientMetadata } from './registration.ts';
import { allowQueryModeOnly } from './response-mode.ts';
import type { Store } from './store.ts';

export const RESOURCE = 'urn:sundial:samples';
const AUDIENCE = 'sundial-samples';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/**
 * Seconds. A JWT cannot be revoked before it expires, so one that a person granted is short and gets refreshed. A machine can ask
 * again with its secret and gets an hour, the most that the specification allows.
 */
export const LIFETIMES = {
  AuthorizationCode: MINUTE,
  AccessToken: 10 * MINUTE,
  ClientCredentials: 60 * MINUTE,
  /** Each use issues a new one. A chain that is unused for so long ends. */
  RefreshToken: 14 * DAY,
  /** The longest life of a chain. */
  Grant: 90 * DAY,
  Interaction: 10 * MINUTE,
  Session: 12 * 60 * MINUTE,
} as const;

export interface ProviderOptions {
  /** Absolute URL without a trailing slash. */
  readonly issuer: string;
  /** The signing key first, then earlier keys whose tokens may not have expired. */
  readonly keys: readonly IssuerKey[];
  readonly store: Store;
  readonly cookieKeys: readonly string[];
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** OAU-1 to OAU-7, OAU-10. */
export function createProvider({ issuer, keys, store, cookieKeys, now }: ProviderOptions): ProviderType {
  const mount = new URL(issuer).pathname;
  const cookie = { signed: true, httpOnly: true, sameSite: 'lax' } as const;
  const configuration: Configuration = {
    adapter: createAdapter(store, now),
    clients: CLIENTS.map(clientMetadata),
    jwks: { keys: [...keys] },
    cookies: {
      keys: [...cookieKeys],
      names: { session: 'auth_session', interaction: 'auth_interaction', resume: 'auth_resume' },
      long: { ...cookie, path: mount },
      short: cookie,
    },
    routes: {
      authorization: '/authorize',
      token: '/token',
      revocation: '/revoke',
      jwks: '/.well-known/jwks.json',
      end_session: '/logout',
    },
    // Only the listed response types exist: no implicit, hybrid or password grant.
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    pkce: { required: (_context, { clientId }) => clientOf(clientId)?.mayOmitPkce !== true },
    // OAU-5: the specification requires it in both requests.
    allowOmittingSingleRegisteredRedirectUri: false,
    rotateRefreshToken: true,
    issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
    // A session belongs to a browser. A client's grant lasts until it is revoked, reused or unused for too long.
    expiresWithSession: () => false,
    ttl: LIFETIMES,
    findAccount: (_context, id) => accountOf(id) && { accountId: id, claims: () => ({ sub: id }) },
    extraTokenClaims: (_context, { clientId }) => {
      const created = clientId === undefined ? undefined : clientOf(clientId)?.accountCreated;
      return created === undefined ? undefined : { account_created: created };
    },
    clientBasedCORS: () => false,
    interactions: { url: (_context, { uid }) => `${mount}/interaction/${uid}` },
    renderError,
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: {
        enabled: true,
        allowedPolicy: (_context, client, token) => token.clientId === client.clientId,
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: renderSignOut,
        postLogoutSuccessSource: renderSignedOut,
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: (context, resource, { clientId }) => {
          if (resource !== RESOURCE) throw new errors.InvalidTarget();
          const scopes = clientOf(clientId)?.scopes ?? [];
          checkScopes(context, scopes);
          return {
            scope: scopes.join(' '),
            audience: AUDIENCE,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'RS256' } },
          };
        },
      },
    },
  };
  const provider = new Provider(issuer, configuration);
  // server.ts sets these headers to the issuer's name, whatever the request says.
  provider.proxy = true;
  provider.use(allowQueryModeOnly);
  provider.use(filterMetadata);
  provider.use(renderSignOutWithoutSession);
  limitSecretAttempts(provider, now);
  provider.on('server_error', (_context, error) => {
    process.stderr.write(`identity: ${error.stack ?? error.message}\n`);
  });
  return provider;
}

/**
 * RFC 6749 §3.3: a scope that the client may not have is refused, not dropped. A machine that names no scope gets all of its own.
 */
function checkScopes({ oidc }: KoaContextWithOIDC, allowed: readonly string[]): void {
  const { params } = oidc;
  if (params === undefined) return;
  if (oidc.route === 'token' && params.grant_type === 'client_credentials')
    params.scope ??= allowed.join(' ');
  if (oidc.route === 'authorization' && params.scope === undefined) {
    throw new errors.InvalidScope('scope is missing: name the scopes that the client needs', '');
  }
  const notAllowed = [...oidc.requestParamScopes].filter((scope) => !allowed.includes(scope));
  if (notAllowed.length > 0)
    throw new errors.InvalidScope('the client may not use one of the scopes', notAllowed.join(' '));
}
