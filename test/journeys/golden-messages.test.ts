// Whole responses as ordered pairs of name and value: nothing is missing, repeated or unexpected.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGateway } from '../support/gateway.ts';
import { type Answer, type Ask, type Client, overHttp1 } from '../support/http-client.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';

const stack = new AsyncDisposableStack();
let client: Client;

const DATE = 'Sun, 01 Mar 2026 12:00:00 GMT';
const FOUND = `HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nDate: ${DATE}\r\nETag: "abc"\r\nCache-Control: max-age=60\r\nVary: Accept\r\nContent-Length: 8\r\n\r\n{"id":7}`;
const SAME = `HTTP/1.1 304 Not Modified\r\nDate: ${DATE}\r\nETag: "abc"\r\nCache-Control: max-age=60\r\nVary: Accept\r\n\r\n`;

beforeAll(async () => {
  const upstream = stack.use(
    await startRawUpstream(
      (_target, socket, request) =>
        void socket.write(/^if-none-match: "abc"$/im.test(request) ? SAME : FOUND),
    ),
  );
  const gateway = stack.use(
    await runGateway({
      policies: 'golden-messages',
      lifecycleNow: () => Date.UTC(2026, 2, 1, 12),
      environment: { UPSTREAM: upstream.url },
    }),
  );
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

/** Pairs without the fields of the connection. Words replace values that differ between requests. */
async function linesOf(ask: Ask): Promise<readonly [Answer, readonly string[]]> {
  const answer = await client.ask(ask);
  const lines = answer.lines.flatMap(([name, value]) => {
    if (name === 'connection' || name === 'keep-alive') return [];
    if (name === 'x-request-id') return ['x-request-id: <uuid>'];
    return [`${name}: ${name === 'date' && value !== DATE ? '<now>' : value}`];
  });
  return [answer, lines];
}

const GUIDE = '<https://dev.example.com/migrate/v2>; rel="deprecation"; type="text/html"';
const PAGE = 'https://127.0.0.1/.well-known/lifecycle/users';
const SUNSET_PAGE = `<${PAGE}>; rel="sunset"`;
const successor = (path: string) => `<https://127.0.0.1/api/v2/users${path}>; rel="successor-version"`;
const DEPRECATED = [
  'deprecation: @1748736000',
  'sunset: Mon, 01 Jun 2026 00:00:00 GMT',
  'x-api-deprecation-info: https://status.example.com/v1',
  `link: ${GUIDE}, <https://status.example.com/v1>; rel="status", ${SUNSET_PAGE}, ${successor('/7')}`,
  'warning: 299 - "Version v1 is deprecated and will be removed on 2026-06-01; see https://dev.example.com/migrate/v2"',
];
const quota = (left: number, wait: number): readonly string[] => [
  'x-ratelimit-limit: 10',
  `x-ratelimit-remaining: ${left}`,
  'ratelimit-policy: "deprecated";q=10;w=60',
  `ratelimit: "deprecated";r=${left};t=${wait}`,
];
const LAST = ['x-request-id: <uuid>', 'strict-transport-security: max-age=86400'];
const VARY = 'vary: Accept, API-Version';
const OURS = [...LAST, 'date: <now>'];
const lengthOf = ({ body }: Answer) => `content-length: ${body.length}`;

describe('whole responses, as ordered pairs', () => {
  it('a deprecated GET, and its 304', async () => {
    const upstream = [
      `date: ${DATE}`,
      'etag: "abc"',
      'cache-control: max-age=60',
      'vary: Accept, API-Version',
    ];
    const [found, lines] = await linesOf({ path: '/api/v1/users/7' });
    expect(found.status).toBe(200);
    expect(lines).toEqual([
      'content-type: application/json; charset=utf-8',
      ...upstream,
      'content-length: 8',
      'via: 1.1 sundial',
      ...DEPRECATED,
      ...quota(9, 6),
      ...LAST,
    ]);
    const [same, again] = await linesOf({ path: '/api/v1/users/7', headers: { 'if-none-match': '"abc"' } });
    expect(same.status).toBe(304);
    expect(same.body.length).toBe(0);
    expect(again).toEqual([...upstream, 'via: 1.1 sundial', ...DEPRECATED, ...quota(8, 12), ...LAST]);
  });

  it('RET-10, LNK-4: a retired version with a redirect: 301 for GET, 308 for POST', async () => {
    const moved = (answer: Answer, search: string) => [
      'content-type: application/json; charset=utf-8',
      lengthOf(answer),
      'proxy-status: sundial; error=proxy_internal_response',
      'cache-control: max-age=60',
      `location: https://127.0.0.1/api/v2/users${search}`,
      VARY,
      'deprecation: @1717200000',
      'sunset: Sun, 01 Jun 2025 00:00:00 GMT',
      `x-api-deprecation-info: ${PAGE}`,
      `link: <${PAGE}>; rel="status", ${SUNSET_PAGE}, ${successor('')}`,
      ...OURS,
    ];
    const [get, lines] = await linesOf({ path: '/api/v0/users?x=1&x=2' });
    expect(get.status).toBe(301);
    expect(lines).toEqual(moved(get, '?x=1&x=2'));
    const [post, others] = await linesOf({ path: '/api/v0/users?x=1', method: 'POST', body: '{}' });
    expect(post.status).toBe(308);
    expect(others).toEqual(moved(post, '?x=1'));
  });

  it('LNK-4: a retired version without a redirect, in both error formats', async () => {
    const gone = (answer: Answer, type: string, order: readonly string[]) => [
      `content-type: ${type}`,
      lengthOf(answer),
      'proxy-status: sundial; error=proxy_internal_response',
      'cache-control: max-age=60',
      VARY,
      ...order,
    ];
    const signals = [
      'deprecation: @1717200000',
      'sunset: Sun, 01 Jun 2025 00:00:00 GMT',
      `x-api-deprecation-info: ${PAGE}`,
      `link: ${GUIDE}, <${PAGE}>; rel="status", ${SUNSET_PAGE}, ${successor('')}`,
    ];
    const [plain, lines] = await linesOf({ path: '/api/v4/users' });
    expect(plain.status).toBe(410);
    expect(lines).toEqual(gone(plain, 'application/json; charset=utf-8', [...signals, ...OURS]));
    expect(plain.text).toBe(
      '{"error":"Gone","message":"API version v4 was retired on 2025-06-01.","replacement":"https://127.0.0.1/api/v2/users","migration_guide":"https://dev.example.com/migrate/v2"}',
    );
    const headers = { accept: 'application/problem+json' };
    const [problem, others] = await linesOf({ path: '/api/v4/users', headers });
    expect(problem.status).toBe(410);
    expect(others).toEqual(gone(problem, 'application/problem+json', [...signals, ...OURS]));
    expect(problem.json).toEqual({
      type: 'about:blank',
      title: 'Gone',
      status: 410,
      detail: 'API version v4 was retired on 2025-06-01.',
      instance: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
      error: 'Gone',
      message: 'API version v4 was retired on 2025-06-01.',
      replacement: 'https://127.0.0.1/api/v2/users',
      migration_guide: 'https://dev.example.com/migrate/v2',
    });
  });

  it('a request over the limit of a deprecated version', async () => {
    const ask = () => linesOf({ path: '/api/v1/users/7' });
    let [answer, lines] = await ask();
    for (let more = 0; more < 20 && answer.status === 200; more += 1) [answer, lines] = await ask();
    expect(answer.status).toBe(429);
    const wait = Number(answer.headers['retry-after']);
    expect(wait).toBeGreaterThan(0);
    expect(lines).toEqual([
      'content-type: application/json; charset=utf-8',
      lengthOf(answer),
      'cache-control: no-store',
      'proxy-status: sundial; error=http_request_error',
      `retry-after: ${wait}`,
      VARY,
      ...DEPRECATED,
      ...quota(0, wait),
      ...OURS,
    ]);
    expect(answer.json).toEqual({
      error: 'Too Many Requests',
      message: `Rate limit exceeded. The limit is lower because this version is deprecated. Retry in ${wait} second${wait === 1 ? '' : 's'}.`,
      retryAfter: wait,
      replacement: 'https://127.0.0.1/api/v2/users/7',
      migration_guide: 'https://dev.example.com/migrate/v2',
    });
  });
});
