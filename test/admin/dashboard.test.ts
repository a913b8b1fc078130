// The dashboard over a real socket: files, headers, sign-in, sign-out, and what a session allows.
import { afterEach, describe, expect, it } from 'vitest';
import { type AdminListener, createAdminListener } from '../../gateway/admin/admin-listener.ts';
import { jsonAnswer } from '../../gateway/admin/answers.ts';
import { readDashboard } from '../../gateway/admin/dashboard/assets.ts';
import { sessionRoutes } from '../../gateway/admin/dashboard/session-routes.ts';
import { createSessions } from '../../gateway/admin/dashboard/sessions.ts';
import type { AdminRoute } from '../../gateway/admin/route.ts';
import { createTokenCheck } from '../../gateway/admin/token.ts';
import type { AdminWriteOutcome } from '../../gateway/telemetry/logs/logger.ts';
import { overHttp1 } from '../support/http-client.ts';

const TOKEN = 'a-token-of-thirty-two-characters';
const HALF_A_DAY_MS = 12 * 60 * 60_000;
const { pages, notFound } = await readDashboard();
const routes: readonly AdminRoute[] = [
  { method: 'GET', path: '/-/versions', show: () => jsonAnswer(200, {}) },
  {
    method: 'POST',
    path: '/-/reload',
    action: 'reload',
    perform: async () => ({ answer: jsonAnswer(200, {}), audit: {} }),
  },
];

let perTest = new AsyncDisposableStack();
let clock = 0;
let audited: [AdminWriteOutcome, string][] = [];
afterEach(async () => {
  await perTest.disposeAsync();
  perTest = new AsyncDisposableStack();
  audited = [];
});

async function start({ exposed = false } = {}) {
  let count = 0;
  const sessions = createSessions({ monotonic: () => clock, random: () => `id-${++count}` });
  const hasToken = createTokenCheck(TOKEN);
  const listener: AdminListener = await createAdminListener({
    address: { host: exposed ? '0.0.0.0' : '127.0.0.1', port: 0 },
    token: TOKEN,
    hasSession: sessions.has,
    notFound,
    routes: [...routes, ...sessionRoutes({ sessions, hasToken, exposed }), ...pages],
    audit: (outcome, { action }) => audited.push([outcome, action]),
    onError: (error) => expect.fail(String(error)),
  });
  perTest.defer(listener.close);
  const { port } = listener.address;
  const client = perTest.use(overHttp1(port, { tls: false }));
  const own = `http://127.0.0.1:${port}`;
  const ask = (
    method: string,
    path: string,
    fields: Readonly<Record<string, string>> = {},
    body?: Readonly<Record<string, unknown>>,
  ) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const framed: Record<string, string> =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(text.length) };
    const headers = { host: `127.0.0.1:${port}`, ...framed, ...fields };
    return client.ask({ method, path, headers, ...(text !== undefined && { body: text }) });
  };
  const signIn = async () => {
    const { headers } = await ask('POST', '/-/session', { origin: own }, { token: TOKEN });
    return String(headers['set-cookie']).split(';', 1)[0] ?? '';
  };
  return { ask, own, signIn };
}

describe('the files of the dashboard', () => {
  it('have a content security policy that allows only their own scripts, and no frames', async () => {
    const { ask } = await start();
    for (const { path } of pages) {
      const { status, headers } = await ask('GET', path);
      expect([200, 302]).toContain(status);
      const policy = String(headers['content-security-policy']);
      expect(policy.split('; ')).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "img-src 'self'",
          "trusted-types 'none'",
          "connect-src 'self'",
          "frame-ancestors 'none'",
          "base-uri 'none'",
          "form-action 'self'",
        ]),
      );
      expect(policy).not.toMatch(/unsafe|http|data:|\*/);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
    }
  });

  it('refer to no other origin, and write no HTML from strings', async () => {
    const { ask } = await start();
    for (const { path } of pages) {
      const { text } = await ask('GET', path);
      expect(text).not.toMatch(
        /innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b| style="| on\w+="/,
      );
      const origins = text.match(/https?:\/\/[\w.]+/g) ?? [];
      expect(origins.filter((origin) => origin !== 'http://www.w3.org')).toEqual([]);
    }
  });

  it.each(['/', '/dashboard'])('%s redirects to the first page', async (path) => {
    const { ask } = await start();
    expect(await ask('GET', path)).toMatchObject({ status: 302, headers: { location: '/dashboard/' } });
  });

  it('get 304 if the client has the current entity tag', async () => {
    const { ask } = await start();
    const path = '/dashboard/page/dashboard.js';
    const { headers } = await ask('GET', path);
    expect(headers).toMatchObject({
      'cache-control': 'no-cache',
      'content-type': 'text/javascript; charset=utf-8',
    });
    const again = await ask('GET', path, { 'if-none-match': `"other", W/${headers.etag}` });
    expect({ status: again.status, body: again.text }).toEqual({ status: 304, body: '' });
    // RFC 9110 section 8.6: no Content-Length, or that of the file.
    expect(again.headers).not.toHaveProperty('content-length');
    expect(again.headers.etag).toBe(headers.etag);
    expect((await ask('GET', path, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('and all other paths get 403 for a page of another site, except for a navigation', async () => {
    const { ask } = await start();
    for (const path of ['/-/versions', '/dashboard/', '/dashboard/page/sun.svg']) {
      const from = async (site: string, mode: string) =>
        (await ask('GET', path, { 'sec-fetch-site': site, 'sec-fetch-mode': mode })).status;
      expect(await from('cross-site', 'no-cors')).toBe(403);
      expect(await from('same-site', 'cors')).toBe(403);
      // A followed link, a typed address, a page of the dashboard, a command line.
      expect(await from('cross-site', 'navigate')).toBe(200);
      expect(await from('none', 'navigate')).toBe(200);
      expect(await from('same-origin', 'cors')).toBe(200);
      const { status, headers } = await ask('GET', path);
      expect([status, headers['cross-origin-resource-policy']]).toEqual([200, 'same-origin']);
    }
  });

  it('are readable before the sign-in, unlike all other paths', async () => {
    const { ask } = await start({ exposed: true });
    expect((await ask('GET', '/dashboard/')).status).toBe(200);
    expect((await ask('GET', '/-/versions')).status).toBe(401);
    expect((await ask('GET', '/-/session')).json).toEqual({ signedIn: false, readable: false });
  });
});

describe('a session', () => {
  it('begins with the token, and has an HttpOnly cookie with SameSite=Strict', async () => {
    const { ask, own } = await start();
    const { status, headers } = await ask('POST', '/-/session', { origin: own }, { token: TOKEN });
    expect(status).toBe(200);
    expect(String(headers['set-cookie'])).toBe(
      'sundial_session=id-1; Path=/-/; HttpOnly; SameSite=Strict; Max-Age=43200',
    );
    expect(audited).toEqual([['done', 'sign_in']]);
  });

  it.each([
    [{ token: `${TOKEN}x` }, 401],
    [{ token: '' }, 401],
    [{ token: 7 }, 400],
    [{}, 400],
  ])('does not begin with %j', async (body, expected) => {
    const { ask, own } = await start();
    const { status, headers } = await ask('POST', '/-/session', { origin: own }, body);
    expect({ status, cookie: headers['set-cookie'] }).toEqual({ status: expected, cookie: undefined });
    expect(audited).toEqual([[expected === 401 ? 'unauthorised' : 'refused', 'sign_in']]);
  });

  it('does not begin from another origin, such as another port of this machine', async () => {
    const { ask } = await start();
    const { status } = await ask('POST', '/-/session', { origin: 'http://127.0.0.1:1' }, { token: TOKEN });
    expect(status).toBe(403);
  });

  it('may read, and may write only from the pages of the dashboard', async () => {
    const { ask, own, signIn } = await start({ exposed: true });
    const cookie = await signIn();
    expect((await ask('GET', '/-/versions', { cookie })).status).toBe(200);
    expect((await ask('POST', '/-/reload', { cookie, origin: own })).status).toBe(200);
    expect((await ask('POST', '/-/reload', { cookie, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    // Every browser sends one of the two. A cookie alone does not prove which page sends the request.
    expect((await ask('POST', '/-/reload', { cookie })).status).toBe(401);
    expect((await ask('POST', '/-/reload', { cookie, origin: 'http://127.0.0.1:1' })).status).toBe(403);
    expect((await ask('POST', '/-/reload', { cookie: `a=b; ${cookie}x`, origin: own })).status).toBe(401);
  });

  it('ends at sign-out, even for a client that keeps the cookie', async () => {
    const { ask, own, signIn } = await start({ exposed: true });
    const cookie = await signIn();
    const { headers } = await ask('DELETE', '/-/session', { cookie, origin: own });
    expect(String(headers['set-cookie'])).toContain(
      'sundial_session=; Path=/-/; HttpOnly; SameSite=Strict; Max-Age=0',
    );
    expect((await ask('GET', '/-/versions', { cookie })).status).toBe(401);
  });

  it('expires after half a day', async () => {
    const { ask, signIn } = await start({ exposed: true });
    const cookie = await signIn();
    clock += HALF_A_DAY_MS - 1;
    expect((await ask('GET', '/-/versions', { cookie })).status).toBe(200);
    clock += 1;
    expect((await ask('GET', '/-/versions', { cookie })).status).toBe(401);
  });
});

it('with more than a hundred sessions, the oldest one ends', () => {
  let count = 0;
  const sessions = createSessions({ monotonic: () => 0, random: () => `id-${++count}` });
  for (let begun = 0; begun < 101; begun += 1) sessions.begin();
  const runs = (id: number) => sessions.has(`other=1; sundial_session=id-${id}`);
  expect([runs(1), runs(2), runs(101), runs(102), sessions.has(undefined)]).toEqual([
    false,
    true,
    true,
    false,
    false,
  ]);
});

it('the dashboard has at most five font sizes, each a token of the style sheet', async () => {
  const { ask } = await start();
  const { text } = await ask('GET', '/dashboard/page/dashboard.css');
  const tokens = [...text.matchAll(/(--text-\w+): [\d.]+rem;/g)].map(([, name]) => name);
  expect(tokens.length).toBeLessThanOrEqual(5);
  const used = [...text.matchAll(/font(?:-size)?:\s*([^;]+);/g)].map(([, value = '']) => value);
  expect(used.length).toBeGreaterThan(5);
  const allowed = new Set(['inherit', ...tokens.map((name) => `var(${name})`)]);
  expect(used.map((value) => value.split(/[\s/]/)[0] ?? '').filter((size) => !allowed.has(size))).toEqual([]);
});

describe('an unknown path', () => {
  it('is a page for browsers, and the error body for other clients', async () => {
    const { ask } = await start();
    for (const path of ['/nowhere', '/dashboard/nowhere', '/-/nowhere']) {
      const page = await ask('GET', path, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
      expect(page).toMatchObject({ status: 404, headers: { 'content-type': 'text/html; charset=utf-8' } });
      expect(page.headers['content-security-policy']).toContain("default-src 'none'");
      for (const accept of ['*/*', 'application/json', 'text/plain'])
        expect(await ask('GET', path, { accept })).toMatchObject({
          status: 404,
          json: { error: 'Not Found' },
        });
    }
  });
});
