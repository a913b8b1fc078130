// The sample client's calls to the authorization server: authorization URL, tokens, refresh, revocation; endpoints come from its
// metadata (RFC 8414).
import { createHash } from 'node:crypto';
import type { Ask, ClientResponse } from './ask.ts';

export interface Registration {
  readonly id: string;
  readonly secret: string;
  /** Whether it uses PKCE; the specification's literal form does not. */
  readonly pkce: boolean;
}

/** A sign-in in progress: the values that the redirect back must match. */
export interface Pending {
  readonly registration: Registration;
  readonly state: string;
  readonly verifier: string;
}

export interface Tokens {
  readonly access: string;
  /** Epoch milliseconds. */
  readonly ends: number;
  readonly refresh: string | undefined;
  readonly scope: string;
}

export type Granted =
  | { readonly kind: 'tokens'; readonly tokens: Tokens }
  | { readonly kind: 'refused'; readonly error: string; readonly description: string };

export interface OAuth {
  readonly authorizationUrl: (pending: Pending) => Promise<string>;
  readonly redeem: (pending: Pending, code: string) => Promise<Granted>;
  readonly refresh: (registration: Registration, token: string) => Promise<Granted>;
  /** Resolves whether or not the token was known (RFC 7009 §2.2). */
  readonly revoke: (registration: Registration, token: string) => Promise<void>;
  readonly signOutUrl: (registration: Registration) => Promise<string>;
}

export interface OAuthOptions {
  readonly issuer: string;
  readonly ask: Ask;
  /** The client's own URL, without a trailing slash. */
  readonly self: () => string;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

const SCOPE = 'orders:read';

/** Calls reject if the issuer does not answer or its metadata names another issuer. */
export function createOAuth({ issuer, ask, self, now }: OAuthOptions): OAuth {
  const callback = () => `${self()}/callback`;
  let known: ReadonlyMap<string, string> | undefined;

  const endpoint = async (name: string): Promise<string> => {
    known ??= await readMetadata(issuer, ask);
    const found = known.get(name);
    if (found === undefined) throw new Error(`the issuer has no ${name}`);
    return found;
  };
  const grant = async (registration: Registration, form: Readonly<Record<string, string>>) => {
    const { id, secret } = registration;
    const url = await endpoint('token_endpoint');
    return readGrant(await ask({ url, form: { ...form, client_id: id, client_secret: secret } }), now());
  };

  return {
    async authorizationUrl({ registration, state, verifier }) {
      const url = new URL(await endpoint('authorization_endpoint'));
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      url.search = new URLSearchParams({
        response_type: 'code',
        client_id: registration.id,
        redirect_uri: callback(),
        scope: SCOPE,
        state,
        ...(registration.pkce && { code_challenge: challenge, code_challenge_method: 'S256' }),
      }).toString();
      return url.href;
    },
    redeem: ({ registration, verifier }, code) =>
      grant(registration, {
        grant_type: 'authorization_code',
        code,
        redirect_uri: callback(),
        ...(registration.pkce && { code_verifier: verifier }),
      }),
    refresh: (registration, token) =>
      grant(registration, { grant_type: 'refresh_token', refresh_token: token }),
    async revoke({ id, secret }, token) {
      const url = await endpoint('revocation_endpoint');
      await ask({ url, form: { token, client_id: id, client_secret: secret } });
    },
    async signOutUrl({ id }) {
      const url = new URL(await endpoint('end_session_endpoint'));
      url.search = new URLSearchParams({
        client_id: id,
        post_logout_redirect_uri: `${self()}/`,
      }).toString();
      return url.href;
    },
  };
}

/** RFC 8414 §3: the issuer's path follows the well-known path. §3.3: the metadata must name the same issuer. */
async function readMetadata(issuer: string, ask: Ask): Promise<ReadonlyMap<string, string>> {
  const { origin, pathname } = new URL(issuer);
  const answer = await ask({ url: `${origin}/.well-known/oauth-authorization-server${pathname}` });
  const metadata = new Map(stringsOf(answer.json));
  if (metadata.get('issuer') !== issuer)
    throw new Error(`the issuer ${issuer} has metadata of another issuer`);
  return metadata;
}

function readGrant({ status, json }: ClientResponse, now: number): Granted {
  const members = new Map(stringsOf(json));
  const access = members.get('access_token');
  if (status !== 200 || access === undefined) {
    const [error = `status ${status}`, description = ''] = [
      members.get('error'),
      members.get('error_description') ?? members.get('message'),
    ];
    return { kind: 'refused', error, description };
  }
  const seconds = Number(typeof json === 'object' && json !== null && Reflect.get(json, 'expires_in'));
  const refresh = members.get('refresh_token');
  const scope = members.get('scope') ?? SCOPE;
  return { kind: 'tokens', tokens: { access, ends: now + seconds * 1000, refresh, scope } };
}

function stringsOf(value: unknown): readonly (readonly [string, string])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'string' ? [[name, member] as const] : [],
  );
}
