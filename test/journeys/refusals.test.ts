// Every "no" of the pipeline, over HTTP/1.1 and HTTP/2: status, body and header lines exactly, and the reason in the log.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Ask, type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';

interface Row {
  readonly title: string;
  readonly reason: string;
  readonly ask: Ask;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
const clients = new Map<string, Client>();
const tokens = { good: '', readOnly: '', foreign: '' };

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  gateway = stack.use(
    await runGateway({
      policies: 'refusals',
      environment: { ECHO: echo.url, ISSUER: issuer.url },
    }),
  );
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
  tokens.good = `Bearer ${await issuer.sign()}`;
  tokens.readOnly = `Bearer ${await issuer.sign({ scope: 'orders:read' })}`;
  tokens.foreign = `Bearer ${await issuer.sign({ aud: 'another-gateway' })}`;
});
afterAll(() => stack.disposeAsync());

const VERSIONS = ['v2', 'v1', 'v0'];
const RETIRED = {
  'cache-control': 'max-age=60',
  'proxy-status': 'sundial; error=proxy_internal_response',
  vary: 'API-Version',
};
const GUIDE = '<https://docs.example.com/orders/v1-to-v2>; rel="deprecation"; type="text/html"';

const rows: readonly Row[] = [
  {
    title: 'a path that belongs to no API',
    reason: 'route_unknown',
    ask: { path: '/nowhere' },
    status: 404,
    body: { error: 'Not Found', message: 'No API is published at this path.' },
  },
  {
    title: 'TLS-4: a host this gateway does not serve',
    reason: 'host_unknown',
    ask: { path: '/api/v2/orders', headers: { host: 'other.example.com' } },
    status: 421,
    body: {
      error: 'Misdirected Request',
      message: 'This gateway does not answer for the host of this request.',
    },
  },
  {
    title: 'a credential in the query, whose value comes back nowhere',
    reason: 'credentials_in_url',
    ask: { path: '/api/v2/orders?x=1&access%5Ftoken=canary-7f3a' },
    status: 400,
    body: {
      error: 'Bad Request',
      message: 'Credentials do not belong in a URL: send access_token in the Authorization header.',
    },
  },
  {
    title: 'VER-3: two carriers that disagree',
    reason: 'version_ambiguous',
    ask: { path: '/api/v2/orders', headers: { 'api-version': 'v1' } },
    status: 400,
    body: {
      error: 'Bad Request',
      message: 'The request names different versions: "v2" in the path, "v1" in the header. Send one.',
    },
    headers: { vary: 'API-Version' },
  },
  {
    title: 'STAT-1: a header that is no version',
    reason: 'version_malformed',
    ask: { path: '/api/orders', headers: { 'api-version': 'banana' } },
    status: 400,
    body: {
      error: 'Bad Request',
      message: '"banana" in the header is not a version. Versions: v2, v1, v0.',
      supportedVersions: VERSIONS,
    },
    headers: { vary: 'API-Version' },
  },
  {
    title: 'STAT-1: a path segment that is no version',
    reason: 'version_malformed',
    ask: { path: '/api/v01/orders' },
    status: 404,
    body: {
      error: 'Not Found',
      message: '"v01" in the path is not a version. Versions: v2, v1, v0.',
      supportedVersions: VERSIONS,
    },
  },
  {
    title: 'STAT-2: a version that never existed, in the path',
    reason: 'version_unknown',
    ask: { path: '/api/v9/orders' },
    status: 404,
    body: {
      error: 'Not Found',
      message: 'There is no such version: "v9" in the path. Versions: v2, v1, v0.',
      supportedVersions: VERSIONS,
    },
  },
  {
    title: 'STAT-1: a version that is only planned, in the header',
    reason: 'version_unknown',
    ask: { path: '/api/orders', headers: { 'api-version': '3' } },
    status: 400,
    body: {
      error: 'Bad Request',
      message: 'There is no such version: "3" in the header. Versions: v2, v1, v0.',
      supportedVersions: VERSIONS,
    },
  },
  {
    title: 'no version at all where none is the default',
    reason: 'version_missing',
    ask: { path: '/api/orders' },
    status: 400,
    body: {
      error: 'Bad Request',
      message: 'The request names no version. Versions: v2, v1, v0.',
      supportedVersions: VERSIONS,
    },
    headers: { vary: 'API-Version' },
  },
  {
    title: 'ORD-1, ORD-3: a retired version, before any precondition and without a token',
    reason: 'version_retired',
    ask: { path: '/api/v1/orders/7?x=1', headers: { 'if-none-match': '*' } },
    status: 410,
    body: {
      error: 'Gone',
      message: 'API version v1 was retired on 2026-06-01.',
      replacement: 'https://127.0.0.1/api/v2/orders/7',
      migration_guide: 'https://docs.example.com/orders/v1-to-v2',
    },
    headers: {
      ...RETIRED,
      deprecation: '@1748736000',
      sunset: 'Mon, 01 Jun 2026 00:00:00 GMT',
      link: `${GUIDE}, <https://127.0.0.1/api/v2/orders/7>; rel="successor-version"`,
    },
  },
  {
    title: 'RET-2: a moved version, with its query byte for byte',
    reason: 'version_moved',
    ask: { path: '/api/v0/orders/a%20b?x=1&x=2&y=%2f' },
    status: 301,
    body: {
      error: 'Moved Permanently',
      message: 'API version v0 was retired on 2026-02-01.',
      replacement: 'https://127.0.0.1/api/v2/orders/a%20b?x=1&x=2&y=%2f',
    },
    headers: {
      ...RETIRED,
      location: 'https://127.0.0.1/api/v2/orders/a%20b?x=1&x=2&y=%2f',
      sunset: 'Sun, 01 Feb 2026 00:00:00 GMT',
      deprecation: '@1717200000',
      link: '<https://127.0.0.1/api/v2/orders/a%20b>; rel="successor-version"',
    },
  },
  {
    title: 'RET-1: the same with a body to send again',
    reason: 'version_moved',
    ask: { path: '/api/v0/orders?x=1', method: 'POST', body: '{}' },
    status: 308,
    body: {
      error: 'Permanent Redirect',
      message: 'API version v0 was retired on 2026-02-01.',
      replacement: 'https://127.0.0.1/api/v2/orders?x=1',
    },
    headers: { ...RETIRED, location: 'https://127.0.0.1/api/v2/orders?x=1' },
  },
  {
    title: 'RET-5: a moved version named by the header is gone, for a redirect would lead back to it',
    reason: 'version_retired',
    ask: { path: '/api/orders/7', headers: { 'api-version': 'v0' } },
    status: 410,
    body: {
      error: 'Gone',
      message: 'API version v0 was retired on 2026-02-01.',
      replacement: 'https://127.0.0.1/api/v2/orders/7',
    },
    headers: RETIRED,
  },
  {
    title: 'AUTH-2: no token',
    reason: 'credentials_missing',
    ask: { path: '/api/v2/orders' },
    status: 401,
    body: {
      error: 'Unauthorized',
      message: 'This API needs an access token: send Authorization: Bearer <token>.',
    },
    headers: { 'www-authenticate': 'Bearer realm="orders"' },
  },
  {
    title: 'AUTH-1: a Bearer line with two tokens',
    reason: 'credentials_malformed',
    ask: { path: '/api/v2/orders', headers: { authorization: 'Bearer one two' } },
    status: 400,
    body: {
      error: 'Bad Request',
      message: 'The Authorization header is malformed: send one line, Bearer <token>.',
    },
    headers: { 'www-authenticate': 'Bearer realm="orders", error="invalid_request"' },
  },
  {
    title: 'AUTH-2: something that is no token',
    reason: 'token_invalid',
    ask: { path: '/api/v2/orders', headers: { authorization: 'Bearer canary-7f3a' } },
    status: 401,
    body: { error: 'Unauthorized', message: expect.stringMatching(/^The access token [ a-z]+\.$/) },
    headers: { 'www-authenticate': expect.stringMatching(/^Bearer realm="orders", error="invalid_token", /) },
  },
];

function expectRefusal(answer: Answer, row: Row): void {
  expect(answer.status).toBe(row.status);
  expect(answer.json).toEqual(row.body);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(answer.body.length),
    'cache-control': 'no-store',
    'proxy-status': 'sundial; error=http_request_error',
    'strict-transport-security': 'max-age=86400',
    ...row.headers,
  });
  expect(`${JSON.stringify(answer.lines)}${answer.text}`).not.toContain('canary');
}

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s a request is refused', (protocol) => {
  const ask = (row: Ask): Promise<Answer> =>
    clients.get(protocol)?.ask(row) ?? Promise.reject(new Error(protocol));

  it.concurrent.each(rows)('$status $reason: $title', async (row) => {
    const answer = await ask(row.ask);
    expectRefusal(answer, row);
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: row.reason, status: row.status, aborted: false });
    expect(JSON.stringify(line)).not.toContain('canary');
  });

  it.concurrent.each(rows.filter(({ ask }) => ask.method === undefined))(
    'RET-9, ERR-3: HEAD gets the head of $status $reason and no body: $title',
    async ({ ask: asked, status, headers }) => {
      const [get, answer] = await Promise.all([ask(asked), ask({ ...asked, method: 'HEAD' })]);
      expect(answer).toMatchObject({
        status,
        headers: { ...headers, 'content-length': String(get.body.length) },
      });
      expect(answer.body.length).toBe(0);
      expect(answer.complete).toBe(true);
    },
  );

  it.concurrent('401 token_invalid: a token for somebody else, by a challenge that says no more than RFC 6750 allows', async () => {
    const answer = await ask({ path: '/api/v2/orders', headers: { authorization: tokens.foreign } });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(
      /^Bearer realm="orders", error="invalid_token", error_description="[ A-Za-z]+"$/,
    );
    expect(await gateway.accessLine(answer.headers['x-request-id'])).toMatchObject({
      refusal: 'token_invalid',
    });
  });

  it.concurrent('403 scope_insufficient: a token that may read and wants to write', async () => {
    const headers = { authorization: tokens.readOnly };
    const answer = await ask({ path: '/api/v2/orders', method: 'POST', headers, body: '{}' });
    expect(answer).toMatchObject({
      status: 403,
      json: { error: 'Forbidden', message: 'The access token lacks a scope: orders:write.' },
      headers: {
        'www-authenticate': 'Bearer realm="orders", error="insufficient_scope", scope="orders:write"',
        'proxy-status': 'sundial; error=http_request_denied',
        'cache-control': 'no-store',
      },
    });
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'scope_insufficient', consumer: 'acme' });
    expect((await ask({ path: '/api/v2/orders', headers })).status).toBe(200);
  });
});
