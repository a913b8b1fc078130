// Tests of the pages of the sample issuer: headers, error texts and signing out (OAU-8, OAU-9).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Issuer } from '../../../upstreams/identity/server.ts';
import {
  AUTHORIZE,
  ISSUER,
  openBrowser,
  type Page,
  post,
  query,
  redemption,
  STOREFRONT,
  type Walker,
  walk,
} from '../../support/oauth-walk.ts';
import { openIssuer } from './own-issuer.ts';

const stack = new AsyncDisposableStack();
let issuer: Issuer;
let now = Date.UTC(2026, 10, 20);
beforeAll(async () => {
  ({ issuer } = stack.use(await openIssuer({ now: () => now })));
});
afterAll(() => stack.disposeAsync());

const ANA = { user: 'ana', password: 'sunrise-sample', decision: 'sign-in' };

async function atLogin(): Promise<{ readonly browser: Walker; readonly page: Page }> {
  const browser = openBrowser(issuer);
  return { browser, page: await browser.open(query(AUTHORIZE)) };
}

describe('the decision about consent', () => {
  it.each(['https://evil.example', 'http://127.0.0.1:4008', 'https://127.0.0.1:8443.evil.example'])(
    'is not accepted from a page of %s',
    async (origin) => {
      const { browser, page } = await atLogin();
      const consent = await browser.send(page, ANA);
      for (const decision of ['allow', 'cancel']) {
        const answer = await browser.send(consent, { decision }, { origin });
        expect(answer).toMatchObject({ status: 400, hops: [] });
        expect(answer.text).toContain('This sign-in is over');
      }
      const given = await browser.send(consent, { decision: 'allow' }, { origin: new URL(ISSUER).origin });
      expect(given.url.searchParams.get('code')).toBeTruthy();
    },
  );

  it('from our own page has Origin: null, since the page has no referrer', async () => {
    const { browser, page } = await atLogin();
    const consent = await browser.send(page, ANA, { origin: 'null', 'sec-fetch-site': 'same-origin' });
    const given = await browser.send(consent, { decision: 'allow' }, { origin: 'null' });
    expect(given.url.searchParams.get('code')).toBeTruthy();
  });
});

describe('every page', () => {
  it('OAU-8: allows no framing, no script, no external content, no referrer and no caching', async () => {
    const { browser, page: login } = await atLogin();
    const consent = await browser.send(login, ANA);
    const error = await openBrowser(issuer).open(query({ ...AUTHORIZE, client_id: 'nobody' }));
    const nobody = await openBrowser(issuer).open('/logout');
    for (const { headers, text } of [login, consent, error, nobody]) {
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-[\w+/=]+'; form-action 'self'( http:\/\/127\.0\.0\.1:4008)?; base-uri 'none'; frame-ancestors 'none'$/,
        ),
      });
      expect(headers.has('access-control-allow-origin')).toBe(false);
      expect(text).not.toMatch(/<script|<link|<img|src=|@import|url\(/);
      expect(text).toContain('<html lang="en">');
    }
    // Chromium checks it for the following redirect.
    expect(consent.headers.get('content-security-policy')).toContain(
      "form-action 'self' http://127.0.0.1:4008;",
    );
  });

  it('sets cookies for its own path only, HttpOnly and SameSite', async () => {
    const { browser, page } = await atLogin();
    await browser.send(page, ANA);
    expect(browser.cookieLines.length).toBeGreaterThan(4);
    for (const line of browser.cookieLines)
      expect(line).toMatch(/; path=\/auth[^;]*;.* samesite=lax; secure; httponly/);
  });
});

describe('signing in', () => {
  it.each([
    ['a wrong password', { ...ANA, password: 'wrong' }],
    ['an unknown name', { ...ANA, user: 'nobody' }],
    ['the password of another user', { ...ANA, user: 'ben' }],
    ['nothing', { decision: 'sign-in' }],
  ])('with %s shows an error, always with the same text, and can be repeated', async (_name, form) => {
    const { browser, page } = await atLogin();
    const again = await browser.send(page, form);
    expect(again).toMatchObject({ status: 401 });
    expect(again.text).toContain('<p role="alert" id="wrong">The name or the password is wrong.</p>');
    expect((await browser.send(again, ANA)).text).toContain('Allow Sample storefront?');
  });

  it('OAU-9: each account and address has five attempts a minute, and others are not affected', async () => {
    const { browser, page } = await atLogin();
    const from = { 'x-forwarded-for': '10.0.0.7' };
    const ben = { user: 'ben', password: 'midday-sample' };
    for (let turn = 0; turn < 5; turn += 1) {
      expect((await browser.send(page, { ...ben, password: 'guess' }, from)).status).toBe(401);
    }
    const held = await browser.send(page, ben, from);
    expect(held.status).toBe(429);
    expect(held.headers.get('retry-after')).toBe('60');
    expect(held.text).toContain('Too many tries. Wait 60 seconds, then try again.');
    expect((await browser.send(page, ben, { 'x-forwarded-for': '10.0.0.8' })).text).toContain('Allow');
    now += 60_000;
    const other = await atLogin();
    expect((await other.browser.send(other.page, ben, from)).text).toContain('Allow');
  });

  it.each([
    ['nothing', {}],
    ['another value', { decision: 'deny' }],
    ['both', 'decision=deny&decision=allow'],
  ])('with %s as decision grants nothing and shows the form again', async (_what, said) => {
    const { browser, page } = await atLogin();
    const consent = await browser.send(page, ANA);
    const again = await browser.send(consent, said);
    expect(again.status).toBe(400);
    expect(again.text).toContain('Choose Allow or Do not allow.');
    expect((await browser.send(again, { decision: 'allow' })).url.searchParams.get('code')).toBeTruthy();
  });

  it('as another user is refused until the present user has signed out', async () => {
    const { browser, page } = await atLogin();
    await browser.send(page, ANA);
    const again = await browser.open(query({ ...AUTHORIZE, prompt: 'login' }));
    const refused = await browser.send(again, { user: 'ben', password: 'midday-sample' });
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('This browser is signed in as ana. Sign out first.');
    expect(refused.text).toContain('<a href="/auth/logout">');
  });

  it.each<[string, (at: { browser: Walker; page: Page }) => Promise<Page>]>([
    ['in another browser', ({ page }) => openBrowser(issuer).send(page, ANA)],
    [
      'by a page of another site',
      ({ browser, page }) => browser.send(page, ANA, { 'sec-fetch-site': 'cross-site' }),
    ],
    ...[
      ['https://evil.example', {}],
      ['https://evil.example', { 'sec-fetch-site': 'same-origin' }],
      ['http://127.0.0.1:8443', {}],
      ['https://127.0.0.1', {}],
      ['https://127.0.0.1:8444', { 'sec-fetch-site': 'none' }],
      ['https://127.0.0.1:8443.evil.example', {}],
      ['http://127.0.0.1:4008', {}],
      ['null', { 'sec-fetch-site': 'cross-site' }],
      ['null', { 'sec-fetch-site': 'same-site' }],
    ].map(([origin, more]): [string, (at: { browser: Walker; page: Page }) => Promise<Page>] => [
      `by a page of ${origin}, ${JSON.stringify(more)},`,
      ({ browser, page }) => browser.send(page, ANA, { ...Object(more), origin: String(origin) }),
    ]),
    [
      'with a body that is not a form',
      ({ browser, page }) => browser.send(page, ANA, { 'content-type': 'text/plain' }),
    ],
    [
      'with a body that is too large',
      ({ browser, page }) => browser.send(page, { ...ANA, more: 'x'.repeat(20_000) }),
    ],
    [
      'a second time',
      async ({ browser, page }) => {
        await browser.send(page, ANA);
        return browser.send(page, ANA);
      },
    ],
  ])('%s has no effect', async (_name, send) => {
    const page = await send(await atLogin());
    expect(page).toMatchObject({ status: 400, hops: [] });
    expect(page.text).toContain('This sign-in is over');
  });
});

describe('consent', () => {
  it('shows the client, the scopes and the redirect address', async () => {
    const { browser, page } = await atLogin();
    const { text } = await browser.send(page, ANA);
    expect(text).toContain('You are signed in as <b>ana</b>. <b>Sample storefront</b> asks to:');
    expect(text).toContain('<li>See your orders <small>(orders:read)</small></li>');
    expect(text).toContain('Your answer goes to <b>http://127.0.0.1:4008</b>.');
  });

  it.each(['login', 'consent'])(
    'that is denied at the %s page gives access_denied to the client',
    async (at) => {
      const { browser, page } = await atLogin();
      const asked = at === 'login' ? page : await browser.send(page, ANA);
      const { url, hops } = await browser.send(asked, { decision: 'cancel' });
      expect(Object.fromEntries(url.searchParams)).toMatchObject({
        error: 'access_denied',
        state: AUTHORIZE.state,
        iss: ISSUER,
      });
      expect(hops).toEqual([303, 303]);
    },
  );

  it('of a web client is remembered for its scopes', async () => {
    const browser = openBrowser(issuer);
    const shop = { ...AUTHORIZE, client_id: 'webshop', redirect_uri: 'https://shop.example/callback' };
    await walk(browser, shop);
    expect((await browser.open(query(shop))).url.searchParams.has('code')).toBe(true);
    const more = await browser.open(query({ ...shop, scope: 'orders:read orders:write' }));
    expect(more.text).toContain('Allow Sample web shop?');
  });
});

describe('signing out', () => {
  const leave = `/logout?${new URLSearchParams({ client_id: 'storefront', post_logout_redirect_uri: 'http://127.0.0.1:4008/' })}`;

  it('asks, ends the session but no grant, and redirects to the client', async () => {
    const browser = openBrowser(issuer);
    const { body } = await post(issuer, '/token', redemption(await walk(browser)));
    const asked = await browser.open(leave);
    expect(asked.text).toContain('You are signed in as <b>ana</b>.');
    const form = { xsrf: /name="xsrf" value="([^"]+)"/.exec(asked.text)?.[1] ?? '', logout: 'yes' };
    const { url } = await browser.send({ ...asked, url: new URL(`${ISSUER}/logout/confirm`) }, form);
    expect(url.href).toBe('http://127.0.0.1:4008/');
    expect((await browser.open(query(AUTHORIZE))).text).toContain('name="password"');
    const again = { grant_type: 'refresh_token', refresh_token: String(body.refresh_token), ...STOREFRONT };
    expect((await post(issuer, '/token', again)).status).toBe(200);
  });

  it('without a session shows a message and a button back to the client', async () => {
    const browser = openBrowser(issuer);
    const page = await browser.open(leave);
    expect(page.text).toContain('You are not signed in');
    expect(page.headers.get('content-security-policy')).toContain(
      "form-action 'self' http://127.0.0.1:4008;",
    );
    const form = { xsrf: /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '', logout: 'yes' };
    const { url } = await browser.send({ ...page, url: new URL(`${ISSUER}/logout/confirm`) }, form);
    expect(url.href).toBe('http://127.0.0.1:4008/');
    expect((await openBrowser(issuer).open('/logout')).text).not.toContain('<button');
  });

  it('redirects to no address that the client has not registered', async () => {
    const browser = openBrowser(issuer);
    const elsewhere = leave.replace('127.0.0.1%3A4008', 'evil.example');
    expect(await browser.open(elsewhere)).toMatchObject({ status: 400, hops: [] });
  });

  it('cannot be requested by another site', async () => {
    const browser = openBrowser(issuer);
    await walk(browser);
    const asked = await browser.open(leave);
    const at = { ...asked, url: new URL(`${ISSUER}/logout/confirm`) };
    expect((await browser.send(at, { xsrf: 'guess', logout: 'yes' })).status).toBe(400);
    expect((await browser.open(query(AUTHORIZE))).text).not.toContain('name="password"');
  });
});
