// Tests of the sample issuer's authorization endpoint: redirects and refusals (OAU-1 to OAU-3, OAU-8).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPES } from '../../../upstreams/identity/clients.ts';
import type { Issuer } from '../../../upstreams/identity/server.ts';
import {
  AUTHORIZE,
  CHALLENGE,
  ISSUER,
  openBrowser,
  type Parameters,
  query,
  walk,
} from '../../support/oauth-walk.ts';
import { openIssuer } from './own-issuer.ts';

const stack = new AsyncDisposableStack();
let issuer: Issuer;
beforeAll(async () => {
  ({ issuer } = stack.use(await openIssuer()));
});
afterAll(() => stack.disposeAsync());

const without = (...names: readonly string[]): Parameters =>
  Object.fromEntries(Object.entries(AUTHORIZE).filter(([name]) => !names.includes(name)));

const WEBSHOP = { ...AUTHORIZE, client_id: 'webshop', redirect_uri: 'https://shop.example/callback' };

describe('a valid request', () => {
  it.each<[string, Parameters]>([
    ['with PKCE', AUTHORIZE],
    [
      'a native client with an unregistered loopback port (OAU-2)',
      { ...AUTHORIZE, redirect_uri: 'http://127.0.0.1:51999/callback' },
    ],
    [
      'the second of several registered addresses',
      { ...WEBSHOP, redirect_uri: 'https://shop.example/callback?from=menu' },
    ],
    [
      "of the specification's confidential client, without PKCE",
      { ...without('code_challenge', 'code_challenge_method'), client_id: 'classic' },
    ],
    ['a public client', { ...AUTHORIZE, client_id: 'handheld' }],
  ])('redirects to the client with code, state and issuer: %s', async (_name, parameters) => {
    const state = 'x y&z=%2F+ü"<>';
    const callback = await walk(openBrowser(issuer), { ...parameters, state });
    expect(`${callback.origin}${callback.pathname}`).toBe(
      new URL(parameters.redirect_uri ?? '').href.split('?')[0],
    );
    expect(callback.searchParams.get('state')).toBe(state);
    expect(callback.searchParams.get('iss')).toBe(ISSUER);
    // OAU-4: 43 characters of 64 are 256 bits.
    expect(callback.searchParams.get('code')).toMatch(/^[\w-]{43}$/);
    expect(callback.searchParams.has('error')).toBe(false);
  });

  it('OAU-8: every redirect is a 303', async () => {
    const browser = openBrowser(issuer);
    const login = await browser.open(query(AUTHORIZE));
    const consent = await browser.send(login, { user: 'ana', password: 'sunrise-sample' });
    const end = await browser.send(consent, { decision: 'allow' });
    expect([...login.hops, ...consent.hops, ...end.hops]).toEqual([303, 303, 303, 303, 303]);
    expect(end.url.searchParams.has('code')).toBe(true);
  });
});

describe('OAU-1, OAU-2: no redirect goes to an address that the client has not registered', () => {
  const shop = (redirect_uri: string): Parameters => ({ ...WEBSHOP, redirect_uri });
  it.each<[string, Parameters]>([
    ['an unknown client', { ...AUTHORIZE, client_id: 'nobody' }],
    ['no client', without('client_id')],
    ['no address', without('redirect_uri')],
    ['an added slash', shop('https://shop.example/callback/')],
    ['another case', shop('https://shop.example/Callback')],
    ['an added query', shop('https://shop.example/callback?next=1')],
    ['an encoded letter', shop('https://shop.example/callb%61ck')],
    ['an encoded dot segment', shop('https://shop.example/%2e/callback')],
    ['a dot segment', shop('https://shop.example/x/../callback')],
    ['a subdomain', shop('https://evil.shop.example/callback')],
    ['a longer host', shop('https://shop.example.evil.example/callback')],
    ['credentials before the host', shop('https://evil.example@shop.example/callback')],
    ['a fragment', shop('https://shop.example/callback#x')],
    ['a port, of a web client', shop('https://shop.example:444/callback')],
    ['plain http', shop('http://shop.example/callback')],
    ['a script', shop('javascript:alert(1)')],
    ['another path at the loopback', { ...AUTHORIZE, redirect_uri: 'http://127.0.0.1:4008/other' }],
    ['another name of the loopback', { ...AUTHORIZE, redirect_uri: 'http://localhost:4008/callback' }],
    [
      'a host that starts like the loopback address',
      { ...AUTHORIZE, redirect_uri: 'http://127.0.0.1.evil.example/callback' },
    ],
    ['a machine, which has no address', { ...AUTHORIZE, client_id: 'acme' }],
  ])('%s', async (_name, parameters) => {
    const page = await openBrowser(issuer).open(query(parameters));
    expect(page).toMatchObject({ status: 400, hops: [] });
    expect(page.headers.get('location')).toBeNull();
    expect(page.text).toContain('This sign-in cannot continue');
  });

  it('two clients or two addresses in one request', async () => {
    for (const twice of ['&client_id=acme', '&redirect_uri=https%3A%2F%2Fevil.example%2F']) {
      const page = await openBrowser(issuer).open(`${query(AUTHORIZE)}${twice}`);
      expect(page).toMatchObject({ status: 400, hops: [] });
    }
  });

  it('text from the request is escaped on the page', async () => {
    const page = await openBrowser(issuer).open(
      query({ ...AUTHORIZE, redirect_uri: 'https://x/"><script>alert(1)</script>' }),
    );
    expect(page.text).not.toContain('<script');
  });
});

describe('every other error is returned to the client, with state and issuer', () => {
  it.each<[string, Parameters | string, string]>([
    ['OAU-1: the implicit grant', { ...AUTHORIZE, response_type: 'token' }, 'unsupported_response_type'],
    ['OAU-1: the hybrid flow', { ...AUTHORIZE, response_type: 'code id_token' }, 'unsupported_response_type'],
    ['no response type', without('response_type'), 'invalid_request'],
    ['OAU-1: a parameter twice', `${query(AUTHORIZE)}&scope=orders%3Awrite`, 'invalid_request'],
    [
      'a scope the client may not have',
      { ...AUTHORIZE, scope: 'orders:read payments:write' },
      'invalid_scope',
    ],
    ['a scope that does not exist', { ...AUTHORIZE, scope: 'openid' }, 'invalid_scope'],
    ['no scope', without('scope'), 'invalid_scope'],
    ['a resource that is not ours', { ...AUTHORIZE, resource: 'https://other.example' }, 'invalid_target'],
    ['prompt=none without a session', { ...AUTHORIZE, prompt: 'none' }, 'login_required'],
    [
      'OAU-8: the response mode form_post',
      { ...AUTHORIZE, response_mode: 'form_post' },
      'unsupported_response_mode',
    ],
    ['the response mode fragment', { ...AUTHORIZE, response_mode: 'fragment' }, 'unsupported_response_mode'],
    [
      'another error with the response mode form_post',
      { ...AUTHORIZE, scope: 'openid', response_mode: 'form_post' },
      'unsupported_response_mode',
    ],
    ['OAU-3: no PKCE', without('code_challenge', 'code_challenge_method'), 'invalid_request'],
    [
      'OAU-3: no PKCE, a public client',
      { ...without('code_challenge', 'code_challenge_method'), client_id: 'handheld' },
      'invalid_request',
    ],
    ['OAU-3: the method plain', { ...AUTHORIZE, code_challenge_method: 'plain' }, 'invalid_request'],
    ['OAU-3: no method, which means plain', without('code_challenge_method'), 'invalid_request'],
    [
      'OAU-3: plain, for the client whose PKCE is optional',
      { ...AUTHORIZE, client_id: 'classic', code_challenge_method: 'plain' },
      'invalid_request',
    ],
    ['OAU-3: a short challenge', { ...AUTHORIZE, code_challenge: CHALLENGE.slice(1) }, 'invalid_request'],
    ['OAU-3: a long challenge', { ...AUTHORIZE, code_challenge: 'x'.repeat(129) }, 'invalid_request'],
    [
      'OAU-3: a challenge with other characters',
      { ...AUTHORIZE, code_challenge: `${CHALLENGE.slice(1)}!` },
      'invalid_request',
    ],
  ])('%s', async (_name, asked, error) => {
    const page = await openBrowser(issuer).open(typeof asked === 'string' ? asked : query(asked));
    expect(`${page.url.origin}${page.url.pathname}`).toBe(AUTHORIZE.redirect_uri);
    expect(Object.fromEntries(new URLSearchParams(page.url.search || page.url.hash.slice(1)))).toMatchObject({
      error,
      state: AUTHORIZE.state,
      iss: ISSUER,
    });
    expect(page.hops).toEqual([303]);
  });
});

describe('other paths of the issuer', () => {
  it.each([
    ['POST', '/authorize', 'GET'],
    ['GET', '/token', 'POST'],
    ['OPTIONS', '/token', 'POST'],
    ['PUT', '/logout', 'GET'],
    ['DELETE', '/.well-known/jwks.json', 'GET, HEAD'],
  ])('%s %s is 405 and lists the allowed methods', async (method, path, allow) => {
    const answer = await fetch(`${issuer.endpoint}${path}`, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow]);
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
  });

  it.each([
    '/Authorize',
    '/authorize/',
    '/reg',
    '/me',
    '/session/end',
    '/.well-known/openid-configuration',
    '/token/introspection',
  ])('%s is 404, although the library offers it', async (path) =>
    expect((await fetch(`${issuer.endpoint}${path}`)).status).toBe(404),
  );

  it('RFC 8414: the metadata has the name of the issuer, not of the request, and all features', async () => {
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
    const answer = await fetch(`${issuer.endpoint}/.well-known/oauth-authorization-server`, { headers });
    expect(await answer.json()).toEqual({
      issuer: ISSUER,
      authorization_endpoint: `${ISSUER}/authorize`,
      token_endpoint: `${ISSUER}/token`,
      revocation_endpoint: `${ISSUER}/revoke`,
      end_session_endpoint: `${ISSUER}/logout`,
      jwks_uri: `${ISSUER}/.well-known/jwks.json`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      authorization_response_iss_parameter_supported: true,
      scopes_supported: Object.keys(SCOPES),
    });
  });
});
