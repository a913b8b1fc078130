// The pages of the sample issuer: what surrounds them, what they say of mistakes, and signing out (OAU-8, OAU-9).
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

describe('the answer to consent', () => {
  it.each(['https://evil.example', 'http://127.0.0.1:4008', 'https://127.0.0.1:8443.evil.example'])(
    'is not given, refused or cancelled by a page of %s',
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

  it('of our own page comes with Origin: null, since it names no referrer', async () => {
    const { browser, page } = await atLogin();
    const consent = await browser.send(page, ANA, { origin: 'null', 'sec-fetch-site': 'same-origin' });
    const given = await browser.send(consent, { decision: 'allow' }, { origin: 'null' });
    expect(given.url.searchParams.get('code')).toBeTruthy();
  });
});

describe('every page', () => {
  it('OAU-8: stands in no frame, runs no script, fetches nothing, names no referrer, and is kept by no cache', async () => {
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
    // Chromium holds the redirect that follows against it.
    expect(consent.headers.get('content-security-policy')).toContain(
      "form-action 'self' http://127.0.0.1:4008;",
    );
  });

  it('sets cookies for itself alone, out of reach of scripts and of other sites', async () => {
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
    ['the password of another', { ...ANA, user: 'ben' }],
    ['nothing', { decision: 'sign-in' }],
  ])('with %s says that it is wrong, in the same words, and goes on', async (_name, form) => {
    const { browser, page } = await atLogin();
    const again = await browser.send(page, form);
    expect(again).toMatchObject({ status: 401 });
    expect(again.text).toContain('<p role="alert" id="wrong">The name or the password is wrong.</p>');
    expect((await browser.send(again, ANA)).text).toContain('Allow Sample storefront?');
  });

  it('OAU-9: five tries at an account from one address, then a minute of none; others are not held up', async () => {
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
    ['another word', { decision: 'deny' }],
    ['both', 'decision=deny&decision=allow'],
  ])('and saying %s to what is asked grants nothing, and asks again', async (_what, said) => {
    const { browser, page } = await atLogin();
    const consent = await browser.send(page, ANA);
    const again = await browser.send(consent, said);
    expect(again.status).toBe(400);
    expect(again.text).toContain('Say whether you allow it.');
    expect((await browser.send(again, { decision: 'allow' })).url.searchParams.get('code')).toBeTruthy();
  });

  it('as somebody else has to wait until the one who is signed in has signed out', async () => {
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
      'by something that is no form',
      ({ browser, page }) => browser.send(page, ANA, { 'content-type': 'text/plain' }),
    ],
    [
      'with more than a form',
      ({ browser, page }) => browser.send(page, { ...ANA, more: 'x'.repeat(20_000) }),
    ],
    [
      'a second time',
      async ({ browser, page }) => {
        await browser.send(page, ANA);
        return browser.send(page, ANA);
      },
    ],
  ])('%s comes to nothing', async (_name, send) => {
    const page = await send(await atLogin());
    expect(page).toMatchObject({ status: 400, hops: [] });
    expect(page.text).toContain('This sign-in is over');
  });
});

describe('consent', () => {
  it('says who asks, what for, and where the answer goes', async () => {
    const { browser, page } = await atLogin();
    const { text } = await browser.send(page, ANA);
    expect(text).toContain('You are signed in as <b>ana</b>. <b>Sample storefront</b> asks to:');
    expect(text).toContain('<li>See your orders <small>(orders:read)</small></li>');
    expect(text).toContain('Your answer goes to <b>http://127.0.0.1:4008</b>.');
  });

  it.each(['login', 'consent'])(
    'that is denied at the %s page is access_denied for the client',
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

  it('of a web client is remembered for the scopes it was given for', async () => {
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

  it('asks, ends the session and no grant, and goes where the client said', async () => {
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

  it('of a browser that is signed in nowhere says so, and leads back to the client by a button', async () => {
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

  it('goes nowhere that the client has not registered', async () => {
    const browser = openBrowser(issuer);
    const elsewhere = leave.replace('127.0.0.1%3A4008', 'evil.example');
    expect(await browser.open(elsewhere)).toMatchObject({ status: 400, hops: [] });
  });

  it('is not done for another site', async () => {
    const browser = openBrowser(issuer);
    await walk(browser);
    const asked = await browser.open(leave);
    const at = { ...asked, url: new URL(`${ISSUER}/logout/confirm`) };
    expect((await browser.send(at, { xsrf: 'guess', logout: 'yes' })).status).toBe(400);
    expect((await browser.open(query(AUTHORIZE))).text).not.toContain('name="password"');
  });
});
