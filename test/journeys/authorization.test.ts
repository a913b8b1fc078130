// Sign-in, tokens and API calls of the specification through the gateway, and the page of the sample client.
import { request } from 'node:https';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClient } from '../../upstreams/client/server.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { type Client, overHttp1 } from '../support/http-client.ts';
import {
  AUTHORIZE,
  fetchOver,
  type Issuing,
  openBrowser,
  post,
  query,
  redemption,
  STOREFRONT,
  type Walker,
  walk,
} from '../support/oauth-walk.ts';
import { type SampleFixture, startSampleFixture } from '../support/sample-fixture.ts';

const stack = new AsyncDisposableStack();
let fixture: SampleFixture;
let gateway: Client;
let issuing: Issuing;
let client: Service;
/** Shared, so that ana signs in once: checking a password is slow by design. */
let browser: Walker;

beforeAll(async () => {
  fixture = stack.use(await startSampleFixture());
  gateway = stack.use(overHttp1(fixture.gateway.https));
  const issuer = `${fixture.origin}/auth`;
  issuing = { issuer, endpoint: issuer, url: fixture.origin, fetch: fetchOver(gateway) };
  browser = openBrowser(issuing);
  client = await startClient({ port: 0, issuer, trusted: join(fixture.folder, 'gateway.crt') });
  stack.defer(client.close);
});
afterAll(() => stack.disposeAsync());

const CLASSIC = { client_id: 'classic', client_secret: 'classic-sample-secret' };

describe('the code flow', () => {
  it('follows the specification: five parameters, code and state, a token, an API call', async () => {
    const { code_challenge: _no, code_challenge_method: _either, ...five } = AUTHORIZE;
    const callback = await walk(browser, { ...five, client_id: 'classic' });
    expect(callback.href.startsWith('http://127.0.0.1:4008/callback?')).toBe(true);
    expect(callback.searchParams.get('state')).toBe(AUTHORIZE.state);
    const { code_verifier: _none, ...form } = redemption(callback, CLASSIC);
    const { status, headers, body } = await post(issuing, '/token', form);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({
      token_type: 'Bearer',
      refresh_token: expect.any(String),
      scope: 'orders:read',
    });
    expect(body.expires_in).toBeLessThanOrEqual(3600);
    const authorization = `Bearer ${body.access_token}`;
    expect(await gateway.ask({ path: '/api/v2/orders?limit=1', headers: { authorization } })).toMatchObject({
      status: 200,
    });
    // Least privilege: only reading was granted.
    const write = await gateway.ask({
      path: '/api/v2/orders',
      method: 'POST',
      headers: { authorization },
      body: '{}',
    });
    expect(write).toMatchObject({
      status: 403,
      headers: { 'www-authenticate': expect.stringContaining('insufficient_scope') },
    });
  });

  it('works with PKCE and refresh; a refresh token that is used twice revokes all tokens', async () => {
    const { body } = await post(issuing, '/token', redemption(await walk(browser)));
    const refresh = (token: unknown) =>
      post(issuing, '/token', { grant_type: 'refresh_token', refresh_token: String(token), ...STOREFRONT });
    const second = await refresh(body.refresh_token);
    const authorization = `Bearer ${second.body.access_token}`;
    expect((await gateway.ask({ path: '/api/v2/orders', headers: { authorization } })).status).toBe(200);
    expect((await refresh(body.refresh_token)).body.error).toBe('invalid_grant');
    expect((await refresh(second.body.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('answers 400 without Location to an unregistered redirect_uri', async () => {
    const page = await openBrowser(issuing).open(
      query({ ...AUTHORIZE, redirect_uri: 'https://evil.example/' }),
    );
    expect(page).toMatchObject({ status: 400, hops: [] });
  });

  it('publishes metadata where RFC 8414 looks for it, and every endpoint in it exists', async () => {
    const { json } = await gateway.ask({ path: '/.well-known/oauth-authorization-server/auth' });
    expect(json.issuer).toBe(issuing.issuer);
    for (const name of ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint', 'jwks_uri']) {
      const { origin, pathname } = new URL(String(json[name]));
      expect(origin).toBe(fixture.origin);
      expect((await gateway.ask({ path: pathname })).status, name).not.toBe(404);
    }
  });
});

describe('the sample client', () => {
  const cookieOf = (answer: Response): string =>
    /^[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0] ?? '';
  const press = (path: string, cookie: string, form: Readonly<Record<string, string>> = {}, headers = {}) =>
    fetch(`${client.url}${path}`, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { cookie, ...headers },
      redirect: 'manual',
    });
  const look = async (cookie: string, path = '/') => {
    const answer = await fetch(`${client.url}${path}`, { headers: { cookie }, redirect: 'manual' });
    return { answer, text: await answer.text() };
  };
  /** Walks to the issuer and back, up to the callback. */
  const begin = async (as = 'storefront') => {
    const to = await press('/login', '', { as });
    const asked = new URL(to.headers.get('location') ?? '');
    const callback = await walk(browser, Object.fromEntries(asked.searchParams));
    return { cookie: cookieOf(to), asked, callback: `${callback.pathname}${callback.search}` };
  };
  const signIn = async () => {
    const { cookie, callback } = await begin();
    return cookieOf((await look(cookie, callback)).answer);
  };

  it('starts a sign-in with a fresh state and a PKCE challenge, and gets a token', async () => {
    const { cookie, asked, callback } = await begin();
    expect(asked.origin + asked.pathname).toBe(`${fixture.origin}/auth/authorize`);
    expect(Object.fromEntries(asked.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'storefront',
      redirect_uri: `${client.url}/callback`,
      scope: 'orders:read',
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    const { answer } = await look(cookie, callback);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
    const fresh = cookieOf(answer);
    expect(answer.headers.get('set-cookie')).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/);
    // The cookie from before the sign-in is invalid.
    expect(fresh).not.toBe(cookie);
    expect((await look(cookie)).text).not.toContain('Access token');
    expect((await press('/orders', fresh, { version: 'v1' })).status).toBe(303);
    const { text } = await look(fresh);
    expect(text).toContain('<b id="status">200</b>');
    expect(text).toContain('<dt>deprecation</dt><dd>@1768435200</dd>');
    expect(text).not.toMatch(/eyJ|refresh_token/);
  });

  it.each<[string, (callback: string) => string, string]>([
    [
      'another state',
      (callback) => callback.replace(/state=[^&]+/, 'state=guessed'),
      'was not started in this browser',
    ],
    ['no state', (callback) => callback.replace(/state=[^&]+&/, ''), 'was not started in this browser'],
    [
      'another issuer',
      (callback) => callback.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example'),
      'came from another issuer',
    ],
    ['no issuer', (callback) => callback.replace(/&?iss=[^&]+/, ''), 'came from another issuer'],
    ['another code', (callback) => callback.replace(/code=[^&]+/, 'code=guessed'), 'invalid_grant'],
    [
      'an error with markup in it',
      (callback) => callback.replace(/code=[^&]+/, 'error=%3Cscript%3E'),
      '&lt;script&gt;',
    ],
  ])('rejects a callback with %s, and says why', async (_name, change, said) => {
    const { cookie, callback } = await begin('classic');
    const { answer, text } = await look(cookie, change(callback));
    const shown = answer.status === 303 ? (await look(cookie)).text : text;
    expect(shown).toContain('role="alert"');
    expect(shown).toContain(said);
    expect(shown).not.toContain('Access token');
  });

  it('accepts a callback once, and only from the browser that started the sign-in', async () => {
    const { cookie, callback } = await begin();
    const strayed = {
      answer: expect.objectContaining({ status: 400 }),
      text: expect.stringContaining('was not started in this browser'),
    };
    expect(await look('', callback)).toEqual(strayed);
    // Opened twice at once, as browsers with prefetch do: one request signs in, and its tokens stay valid.
    const both = await Promise.all([look(cookie, callback), look(cookie, callback)]);
    expect(both.map(({ answer }) => answer.status).toSorted()).toEqual([303, 400]);
    const signedIn = cookieOf(both.find(({ answer }) => answer.status === 303)?.answer ?? new Response());
    expect(await look(signedIn, callback)).toEqual(strayed);
    await press('/refresh', signedIn);
    expect((await look(signedIn)).text).toContain('<dd id="refreshed">1</dd>');
  });

  it('runs concurrent refreshes one after the other', async () => {
    const cookie = await signIn();
    await Promise.all([1, 2, 3].map(() => press('/refresh', cookie)));
    const { text } = await look(cookie);
    expect(text).toContain('<dd id="refreshed">3</dd>');
  });

  it('refreshes its tokens when they have expired', async () => {
    let ahead = 0;
    const late = await startClient({
      ...{ port: 0, issuer: issuing.issuer, trusted: join(fixture.folder, 'gateway.crt') },
      now: () => Date.now() + ahead,
    });
    stack.defer(late.close);
    const to = await fetch(`${late.url}/login`, {
      method: 'POST',
      body: new URLSearchParams({ as: 'storefront' }),
      redirect: 'manual',
    });
    const asked = new URL(to.headers.get('location') ?? '');
    const { search } = await walk(browser, Object.fromEntries(asked.searchParams));
    const back = await fetch(`${late.url}/callback${search}`, {
      headers: { cookie: cookieOf(to) },
      redirect: 'manual',
    });
    const headers = { cookie: cookieOf(back) };
    const refreshed = async () => {
      await fetch(`${late.url}/orders`, {
        ...{ method: 'POST', body: new URLSearchParams({ version: 'v2' }), headers, redirect: 'manual' },
      });
      const text = await (await fetch(late.url, { headers })).text();
      expect(text).toContain('<b id="status">200</b>');
      return /<dd id="refreshed">(\d+)/.exec(text)?.[1];
    };
    expect(await refreshed()).toBe('0');
    ahead = 601_000;
    expect(await refreshed()).toBe('1');
  });

  it('redirects to its canonical host, and to no issuer that has another name', async () => {
    const elsewhere = await fetch(client.url.replace('127.0.0.1', 'localhost'), { redirect: 'manual' });
    expect([elsewhere.status, elsewhere.headers.get('location')]).toEqual([303, `${client.url}/`]);
    const issuer = issuing.issuer.replace('127.0.0.1', 'localhost');
    const misled = await startClient({ port: 0, issuer, trusted: join(fixture.folder, 'gateway.crt') });
    stack.defer(misled.close);
    const begun = await fetch(`${misled.url}/login`, {
      method: 'POST',
      body: new URLSearchParams({ as: 'storefront' }),
      redirect: 'manual',
    });
    expect(begun.headers.get('location')).toBe('/');
  });

  it('refuses a POST from a page of another site', async () => {
    const cookie = await signIn();
    const refused = await press('/logout', cookie, {}, { 'sec-fetch-site': 'cross-site' });
    expect(refused.status).toBe(400);
    expect((await look(cookie)).text).toContain('Access token');
  });

  it('deletes its session at sign-out, and has the refresh token revoked', async () => {
    const cookie = await signIn();
    // Only the issuer's file shows the refresh tokens, because they never leave the client.
    using file = new DatabaseSync(join(fixture.folder, 'identity.db'), { readOnly: true });
    const kept = () =>
      Number(file.prepare("SELECT count(*) AS tokens FROM kept WHERE model = 'RefreshToken'").get()?.tokens);
    const before = kept();
    const out = await press('/logout', cookie);
    expect(kept()).toBe(before - 1);
    expect(out.headers.get('location')).toMatch(`${fixture.origin}/auth/logout?client_id=storefront&`);
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await look(cookie)).text).toContain('Sign in without PKCE');
  });

  it('forbids frames, and says when the gateway does not answer', async () => {
    await using lonely = {
      ...(await startClient({ port: 0, issuer: 'https://127.0.0.1:1/auth', trusted: '/nowhere' })),
      [Symbol.asyncDispose]: () => lonely.close(),
    };
    const begun = await fetch(`${lonely.url}/login`, {
      method: 'POST',
      body: new URLSearchParams({ as: 'storefront' }),
      redirect: 'manual',
    });
    const page = await fetch(lonely.url, { headers: { cookie: cookieOf(begun) } });
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(await page.text()).toContain('https://127.0.0.1:1 does not answer. Is the gateway running?');
  });
});

// Last, because it uses up the limit of the other tests.
describe('the token endpoint', () => {
  it('OAU-9: answers 429 with Retry-After over the limit of an address', async () => {
    const ask = () => post(issuing, '/token', { grant_type: 'client_credentials', client_id: 'nobody' });
    const answers = await Promise.all(Array.from({ length: 61 }, ask));
    const limited = answers.find(({ status }) => status === 429);
    expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(limited?.body).toMatchObject({ error: 'Too Many Requests' });
  });
});

it('OAU-9: wrong secrets block their own address only, whatever the forwarded fields say', async () => {
  const { port } = new URL(fixture.origin);
  const token = async (
    secret: string,
    localAddress: string,
    forwarded: Readonly<Record<string, string>> = {},
  ) => {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'globex',
      client_secret: secret,
    });
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    const asked = request(
      {
        ...{
          host: '127.0.0.1',
          port,
          path: '/auth/token',
          method: 'POST',
          localAddress,
          rejectUnauthorized: false,
        },
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...forwarded },
      },
      (answer) => resolve(answer.resume().statusCode),
    );
    asked.on('error', reject).end(body.toString());
    return promise;
  };
  const statuses: (number | undefined)[] = [];
  // The limit counts the real address, whatever the client claims.
  for (let turn = 0; turn < 12; turn += 1)
    statuses.push(
      await token('guess', '127.0.0.2', { 'x-forwarded-for': '127.0.0.3', forwarded: 'for=127.0.0.3' }),
    );
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
  expect(await token('globex-sample-secret', '127.0.0.3')).toBe(200);
  expect(await token('globex-sample-secret', '127.0.0.2')).toBe(429);
});
