// Refused writes at the admin listener change nothing and are recorded in the audit trail.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type AdminWrite, adminWriter } from '../support/admin-write.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1, overHttp2 } from '../support/http-client.ts';

const stack = new AsyncDisposableStack();
const PAUSE = { api: 'orders', version: 'v1', for: '2h', by: 'maria', why: 'checkout fails' };
const AUTHOR = { by: 'maria', why: 'the new client is not out' };
const UPGRADE = { version: '2026-03-01', ...AUTHOR };
let gateway: RunningGateway;
let admin: Client;
let token = '';
let write: (write: AdminWrite) => Promise<Answer>;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  gateway = stack.use(await runGateway({ policies: 'admin-writes', environment: { ECHO: echo.url } }));
  admin = stack.use(overHttp1(gateway.admin, { tls: false }));
  token = await gateway.adminToken();
  write = adminWriter(admin, token);
});
afterAll(() => stack.disposeAsync());

const audits = () => gateway.log.filter(({ audit }) => audit !== undefined);
const overrides = async (): Promise<unknown> => (await admin.ask({ path: '/-/overrides' })).json.overrides;
const pause = (changes: Partial<AdminWrite> = {}): Promise<Answer> =>
  write({ method: 'POST', path: '/-/pauses', body: PAUSE, ...changes });

const WRITES: readonly (readonly [action: string, write: AdminWrite])[] = [
  ['pause', { method: 'POST', path: '/-/pauses', body: PAUSE }],
  ['end_pause', { method: 'DELETE', path: '/-/pauses/0123456789', body: AUTHOR }],
  ['upgrade_pin', { method: 'PUT', path: '/-/pins/payments/acme', body: UPGRADE }],
  ['roll_back_pin', { method: 'POST', path: '/-/pins/payments/acme/roll-back', body: AUTHOR }],
];

describe('a write without the token', () => {
  const wrong: readonly (readonly [name: string, () => string | undefined])[] = [
    ['none', () => undefined],
    ['an empty one', () => 'Bearer '],
    ['another', () => `Bearer ${'x'.repeat(43)}`],
    ['one that begins the same', () => `Bearer ${token.slice(0, -1)}`],
    ['one that goes on', () => `Bearer ${token}x`],
    ['the right one by another scheme', () => `Basic ${token}`],
    ['the right one twice', () => `Bearer ${token} ${token}`],
  ];

  it.each(WRITES)('%s gets 401 with the same body for every wrong token', async (action, asked) => {
    const series = `sundial_admin_writes_total{action="${action}",outcome="unauthorised"}`;
    const answers = await Promise.all(
      wrong.map(([, authorization]) => write({ ...asked, headers: { authorization: authorization() } })),
    );
    for (const { status, headers } of answers) {
      expect(status).toBe(401);
      expect(headers['www-authenticate']).toBe('Bearer realm="sundial-admin"');
    }
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.json).toEqual({
      error: 'Unauthorized',
      message: 'This request needs the admin token: send "Authorization: Bearer <token>".',
    });
    expect(await gateway.metric(series)).toBe(wrong.length);
    expect(audits().slice(-wrong.length)).toEqual(
      wrong.map(() =>
        expect.objectContaining({
          message: 'admin write unauthorised',
          audit: { action, from: '127.0.0.1' },
        }),
      ),
    );
    expect(await overrides()).toEqual([]);
  });

  it('reads on loopback need no token', async () => {
    for (const path of ['/-/overrides', '/-/pins/payments/acme', '/metrics', '/-/ready'])
      expect((await admin.ask({ path })).status).toBe(200);
  });

  it('does not reveal whether its target exists', async () => {
    const paths = ['/-/pins/payments/acme', '/-/pins/nothing/acme'];
    const headers = { authorization: undefined };
    const asked = paths.map((path) => write({ method: 'PUT', path, body: UPGRADE, headers }));
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([401, 401]);
  });
});

describe('a write from a browser', () => {
  it.each([
    ['a page elsewhere', { origin: 'https://evil.example' }],
    ['a page of another port here', { origin: 'http://127.0.0.1:3000' }],
    ['a sandboxed page', { origin: 'null' }],
    ['a page of the same site', { 'sec-fetch-site': 'same-site' }],
    ['a form elsewhere', { 'sec-fetch-site': 'cross-site' }],
  ])('from %s gets 403 in spite of the token', async (_name, headers) => {
    const answer = await pause({ headers });
    expect(answer).toMatchObject({
      status: 403,
      json: { error: 'Forbidden', message: 'Pages of other origins cannot write here.' },
    });
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    expect(await overrides()).toEqual([]);
  });

  it('from a page of the admin listener passes the origin check', async () => {
    const origin = `http://127.0.0.1:${gateway.admin}`;
    const headers = { host: `127.0.0.1:${gateway.admin}`, origin, 'sec-fetch-site': 'same-origin' };
    expect((await pause({ headers, body: {} })).status).toBe(400);
  });

  it('with a foreign Host gets 421', async () => {
    expect((await pause({ headers: { host: 'evil.example' } })).status).toBe(421);
  });

  it('has a preflight that gets 405 without CORS fields', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const { status, lines } = await admin.ask({ method: 'OPTIONS', path: '/-/pauses', headers });
    expect(status).toBe(405);
    expect(lines.filter(([name]) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('an invalid body', () => {
  it.each([
    ['no JSON', '{"api":', 'The body is not JSON in UTF-8.'],
    [
      'a list',
      '[]',
      'The body cannot be used: send a JSON object with the members api, version, until, for, by, why.',
    ],
    ['null', 'null', 'send a JSON object with the members'],
    [
      'an empty object',
      '{}',
      'the member "api" is missing; the member "by" is missing; the member "why" is missing',
    ],
    [
      'an unknown member',
      { ...PAUSE, untill: '2027-01-01' },
      'The body cannot be used: unknown member "untill" (did you mean "until"?).',
    ],
    ['a member of the prototype', '{"__proto__":{"api":"orders"}}', 'unknown member "__proto__"'],
    ['no end', { ...PAUSE, for: undefined }, 'write either "for" or "until", not both'],
    ['two ends', { ...PAUSE, until: '2027-01-01' }, 'write either "for" or "until", not both'],
    ['an invalid duration', { ...PAUSE, for: '2 hours' }, '"for": not a duration'],
    [
      'a date that does not exist',
      { ...PAUSE, for: undefined, until: '2027-02-30' },
      '"until": not a calendar date',
    ],
    ['a number for a version', { ...PAUSE, version: 1 }, '"version": expected text'],
    ['no reason', { ...PAUSE, why: '  ' }, '"why": must be a single line of 1 to 200 printable characters'],
    [
      'a reason with two lines',
      { ...PAUSE, why: 'x\n{"level":"info"}' },
      '"why": must be a single line of 1 to 200 printable characters',
    ],
    [
      'an author with a bidirectional control',
      { ...PAUSE, by: 'maria\u202e' },
      '"by": must be a single line of 1 to 100 printable characters',
    ],
  ])('gets 400 with the reason: %s', async (_name, body, sentence) => {
    const answer = await pause({ body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ error: 'Bad Request', message: expect.stringContaining(sentence) });
    expect(await overrides()).toEqual([]);
  });

  it.each(['/-/backups', '/-/reload'])('gets 400 with an unknown member: %s', async (path) => {
    const answer = await write({ method: 'POST', path, body: { into: '/tmp/x.db' } });
    expect(answer).toMatchObject({
      status: 400,
      json: { message: 'The body cannot be used: unknown member "into" (known: by, why).' },
    });
  });

  it.each([
    ['a form', 'application/x-www-form-urlencoded'],
    ['text, which a page of another origin can send', 'text/plain'],
    ['missing', undefined],
  ])('gets 415 if its Content-Type is %s', async (_name, type) => {
    const answer = await pause({ headers: { 'content-type': type } });
    expect(answer).toMatchObject({ status: 415, json: { error: 'Unsupported Media Type' } });
  });

  it('gets 413 beyond 64 KiB', async () => {
    const body = JSON.stringify({ ...PAUSE, why: 'x'.repeat(70_000) });
    expect(await pause({ body })).toMatchObject({ status: 413, json: { error: 'Content Too Large' } });
  });

  it('gets 400 if its bytes are not UTF-8', async () => {
    const bytes = Buffer.from('{"api":"orders","why":"caf\xe9"}', 'latin1');
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await admin.ask({ method: 'POST', path: '/-/pauses', headers, body: bytes });
    expect(answer).toMatchObject({ status: 400, json: { message: 'The body is not JSON in UTF-8.' } });
  });
});

describe('a wrong path or method', () => {
  it.each([
    ['GET', '/-/pauses', 405, 'POST'],
    ['PATCH', '/-/pauses/0123456789', 405, 'GET, HEAD, DELETE'],
    ['DELETE', '/-/pins/payments/acme', 405, 'GET, HEAD, PUT'],
    ['GET', '/-/pins/payments/acme/roll-back', 405, 'POST'],
    ['POST', '/-/overrides', 405, 'GET, HEAD'],
  ])('ERR-4: %s %s gets %i with Allow: %s', async (method, path, status, allow) => {
    const answer = await write({ method, path, body: AUTHOR });
    expect(answer).toMatchObject({ status, headers: { allow }, json: { error: 'Method Not Allowed' } });
  });

  it.each([
    ['GET', '/-/pins/payments', 404],
    ['GET', '/-/pins/payments/', 404],
    ['GET', '/-/pins/payments/a/b', 404],
    ['POST', '/-/pauses/', 404],
    ['GET', '/-/pauses/0123456789', 404],
    ['GET', '/-/pins/nothing/acme', 404],
    ['GET', '/-/pins/orders/acme', 404],
    ['GET', '/-/pins/payments/%0a', 400],
    ['GET', '/-/pins/payments/%ff', 400],
    ['GET', `/-/pins/payments/${'x'.repeat(257)}`, 400],
  ])('%s %s gets %i', async (method, path, status) => {
    const answer = method === 'GET' ? await admin.ask({ path }) : await write({ method, path, body: AUTHOR });
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ error: expect.any(String), message: expect.any(String) });
  });
});

describe('the audit log', () => {
  it('has one line per write: author, reason, address, and the state before and after', async () => {
    const why = 'checkout fails: "}\\u000a see https://tickets.example/1?key=canary';
    const made = await pause({ body: { ...PAUSE, why } });
    expect(made.status).toBe(201);
    const { id } = Object(made.json.pause);
    await write({ method: 'DELETE', path: `/-/pauses/${id}`, body: AUTHOR });
    await write({ method: 'PUT', path: '/-/pins/payments/audited', body: UPGRADE });
    await write({ method: 'POST', path: '/-/pins/payments/audited/roll-back', body: AUTHOR });
    const held = {
      id,
      from: '2026-11-20T00:00:00Z',
      until: '2026-11-20T02:00:00Z',
      by: 'maria',
      why: 'checkout fails: "}\\u000a see https://tickets.example/1?[redacted]',
    };
    const pinned = { version: '2026-03-01', origin: 'upgrade', since: '2026-11-20T00:00:00Z' };
    const from = '127.0.0.1';
    expect(audits().slice(-4)).toMatchObject([
      { message: 'admin write done', audit: { action: 'pause', from, subject: 'orders v1', after: held } },
      { message: 'admin write done', audit: { action: 'end_pause', from, ...AUTHOR, before: held } },
      {
        message: 'admin write done',
        audit: { action: 'upgrade_pin', from, subject: 'payments audited', ...AUTHOR, after: pinned },
      },
      { message: 'admin write done', audit: { action: 'roll_back_pin', ...AUTHOR, before: pinned } },
    ]);
    for (const { level, time } of audits())
      expect({ level, time }).toEqual({ level: 'info', time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });
    expect(JSON.stringify(gateway.log)).not.toContain('canary');
    expect(JSON.stringify(gateway.log)).not.toContain(token);
  });

  it('records a write as refused, not failed, if its client disconnects within the body', async () => {
    const socket = connect(gateway.admin, '127.0.0.1');
    socket.write(
      `POST /-/pauses HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n` +
        'content-type: application/json\r\ncontent-length: 100\r\nexpect: 100-continue\r\n\r\n{"api"',
    );
    await once(socket, 'data');
    const before = audits().length;
    socket.resetAndDestroy();
    await vi.waitFor(() => expect(audits()).toHaveLength(before + 1), { timeout: 20_000 });
    expect(audits().at(-1)).toMatchObject({
      message: 'admin write refused',
      audit: { action: 'pause', from: '127.0.0.1' },
    });
    expect(gateway.log.map(({ message }) => message)).not.toContain('a request to the admin listener failed');
  });

  it('a metric counts done and refused writes', async () => {
    const count = (outcome: string) =>
      gateway.metric(`sundial_admin_writes_total{action="upgrade_pin",outcome="${outcome}"}`);
    const [done = 0, refused = 0] = [await count('done'), await count('refused')];
    await write({ method: 'PUT', path: '/-/pins/payments/counted', body: UPGRADE });
    await write({ method: 'PUT', path: '/-/pins/payments/counted', body: UPGRADE });
    await write({ method: 'PUT', path: '/-/pins/payments/counted', body: {} });
    expect([await count('done'), await count('refused')]).toEqual([done + 1, refused + 2]);
  });
});

describe('concurrent writes', () => {
  it('upgrade an account once: one of ten gets 200, the others get 409', async () => {
    const asked = Array.from({ length: 10 }, () =>
      write({ method: 'PUT', path: '/-/pins/payments/raced', body: UPGRADE }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
  });
});

describe('the public listener', () => {
  it.each([
    ['POST', '/-/pauses'],
    ['GET', '/-/overrides'],
    ['PUT', '/-/pins/payments/acme'],
    ['POST', '//-/pauses'],
  ])('does not serve %s %s over HTTP/1.1 and HTTP/2', async (method, path) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    for (const reach of [overHttp1, overHttp2]) {
      await using client = reach(gateway.https);
      const body = method === 'GET' ? {} : { body: JSON.stringify(PAUSE) };
      const { status, text } = await client.ask({ method, path, headers, ...body });
      expect([400, 404]).toContain(status);
      expect(text).not.toContain('Pages');
    }
    expect(await overrides()).toEqual([]);
  });

  it('serves no admin page by an absolute target or a loopback Host', async () => {
    const socket = connect(gateway.http, '127.0.0.1');
    socket.end(
      'GET http://127.0.0.1:9901/-/overrides HTTP/1.1\r\nHost: 127.0.0.1:9901\r\nConnection: close\r\n\r\n',
    );
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(text).not.toContain('overrides');
  });
});
