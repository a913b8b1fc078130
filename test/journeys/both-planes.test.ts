// The same requests to two whole gateways, one on each plane: alike are the answers, the access lines, the metrics, the
// ledger and what is left of the limits.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type RawRequest, startUpstream } from '../plane/raw-sockets.ts';
import { FUZZ_TIMEOUT_MS, samples } from '../support/fuzz.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';
import { sendBytes } from '../support/raw-client.ts';

const CASES = 1_000;
const ANSWERS = [
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
  'HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nnope\r\n0\r\n\r\n',
  'HTTP/1.1 204 No Content\r\nDeprecation: @1\r\nSunset: never\r\nVary: Origin\r\n\r\n',
  'HTTP/1.1 503 Busy\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
] as const;

const stack = new AsyncDisposableStack();
let gateways: readonly RunningGateway[];
let tokens: readonly string[];

beforeAll(async () => {
  const issuer = stack.adopt(await startTestIssuer(), (running) => running.close());
  const run = async (plane: string): Promise<RunningGateway> => {
    const give = ({ head, complete }: RawRequest): string | undefined => {
      const answer = ANSWERS[Number(/answer=(\d)/.exec(head)?.[1] ?? 0)] ?? ANSWERS[0];
      if (!complete) return undefined;
      return head.startsWith('HEAD') ? answer.slice(0, answer.indexOf('\r\n\r\n') + 4) : answer;
    };
    const service = stack.adopt(await startUpstream(give, give), (running) => running.stop());
    return stack.use(
      await runGateway({
        config: 'both-planes/gateway.yaml',
        policies: 'both-planes/policies',
        realClock: true,
        environment: { PLANE: plane, ISSUER: issuer.url, SERVICE: service.origin },
      }),
    );
  };
  gateways = [await run('fast'), await run('general')];
  const scopes = 'orders:read orders:write';
  tokens = [
    await issuer.sign({ client_id: 'acme', scope: scopes }),
    await issuer.sign({ client_id: 'globex', scope: 'orders:read' }),
    await issuer.sign({ client_id: 'acme', scope: scopes }, { kid: 'unknown' }),
    await issuer.sign({ client_id: 'acme', scope: scopes, aud: 'another' }),
    'a.b.c',
  ];
});
afterAll(() => stack.disposeAsync());

const drawn = fc.record({
  method: fc.constantFrom('GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'),
  path: fc.constantFrom(
    ...['/api/v0/orders', '/api/v1/orders', '/api/v1/orders/7', '/api/v2/orders', '/api/orders'],
    ...['/api/v3/orders', '/api/v1/orders/%2e%2e/x', '/api/nowhere', '/.well-known/api-catalog'],
  ),
  answer: fc.nat(ANSWERS.length - 1),
  token: fc.option(fc.nat(4)),
  lines: fc.subarray([
    ...['API-Version: v2', 'Origin: https://app.example.com', 'Origin: https://evil.example', 'Accept: */*'],
    ...['Access-Control-Request-Method: GET', 'X_Odd: 1', 'X-Many: 1', 'X-Many: 2', 'User-Agent: acme/1.0'],
    ...['traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'Cache-Control: no-cache'],
  ]),
  body: fc.constantFrom(
    '',
    '',
    'Content-Length: 5\r\n\r\nhello',
    'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
  ),
});

type Drawn = typeof drawn extends fc.Arbitrary<infer Value> ? Value : never;

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TIMESTAMP = /"timestamp":"[^"]*"/g;

/** End with seconds that are left. */
const SECONDS: ReadonlySet<string> = new Set(['x-ratelimit-reset', 'ratelimit', 'retry-after']);
/** Of what takes time, of a process, of its plane and of its file. */
const OF_THE_PROCESS = /^sundial_(?:plane_|ledger_(?:flushes|pending)|config_info)|_seconds/;

function textOf({ method, path, answer, token, lines, body }: Drawn, requestId: string): string {
  const credential = token === null ? [] : [`Authorization: Bearer ${tokens[token]}`];
  const fields = [
    'Host: api.example.com',
    'Connection: close',
    `X-Request-Id: ${requestId}`,
    ...credential,
    ...lines,
  ];
  return [`${method} ${path}?answer=${answer} HTTP/1.1`, ...fields, body === '' ? '\r\n' : body].join('\r\n');
}

interface Asked {
  readonly requestId: string;
  readonly answer: unknown;
}

/** The answer without what tells the time, in the order of the names. */
async function asked(gateway: RunningGateway, text: string): Promise<Asked> {
  const { status, headers, body } = await sendBytes(gateway.http, text, { tls: false });
  const { date, connection, 'keep-alive': kept, 'x-request-id': requestId = '', ...others } = headers;
  const lines = Object.entries(others)
    .map(([name, value]) => [name, SECONDS.has(name) ? value.replace(/\d+$/, 'n') : value])
    .toSorted();
  return { requestId, answer: { status, lines, body: body.replaceAll(UUID, '').replaceAll(TIMESTAMP, '') } };
}

/** The access line without what tells the time. */
async function logged(gateway: RunningGateway, { requestId }: Asked): Promise<unknown> {
  const { time, trace_id, duration_ms, upstream_ms, request_id, ...others } =
    await gateway.accessLine(requestId);
  return others;
}

/** The lines of /metrics about requests. */
async function counted(gateway: RunningGateway): Promise<readonly string[]> {
  await using client = overHttp1(gateway.admin, { tls: false });
  const { text } = await client.ask({ path: '/metrics' });
  return text.split('\n').filter((line) => line.startsWith('sundial_') && !OF_THE_PROCESS.test(line));
}

/** The rows of the ledger; of each time the day. */
async function recorded(gateway: RunningGateway): Promise<unknown> {
  await using client = overHttp1(gateway.admin, { tls: false });
  const { status, text } = await client.ask({ path: '/-/usage' });
  expect(status, text).toBe(200);
  return JSON.parse(text.replaceAll(/(\d{4}-\d\d-\d\d)T[\d:.]+Z/g, '$1'));
}

it('no plane answers, logs or counts otherwise', { timeout: FUZZ_TIMEOUT_MS }, async () => {
  const { seed, drawn: cases } = samples(drawn, CASES);
  const pairs: (readonly [Drawn, readonly Asked[]])[] = [];
  for (const one of cases) {
    const text = textOf(one, randomUUID());
    pairs.push([one, await Promise.all(gateways.map((each) => asked(each, text)))]);
  }
  const different: unknown[] = [];
  for (const [one, both] of pairs) {
    const lines = await Promise.all(gateways.map((each, at) => logged(each, both[at] as Asked)));
    const [fast, general] = both.map(({ answer }, at) => JSON.stringify({ answer, line: lines[at] }));
    if (fast !== general) different.push({ one, fast, general });
  }
  expect(different.slice(0, 3), `seed ${seed}: ${different.length} of ${cases.length}`).toEqual([]);
  const statuses = new Set(gateways[0]?.log.map(({ status }) => status));
  expect([...statuses]).toEqual(expect.arrayContaining([200, 204, 400, 401, 403, 404, 410, 429, 502, 503]));
  const [fast, general] = await Promise.all(gateways.map(counted));
  expect(fast?.filter((line) => line.startsWith('sundial_requests_total')).length).toBeGreaterThan(10);
  expect(fast).toEqual(general);
  // Written in batches, of which the last one may be to come.
  await vi.waitFor(
    async () => {
      const [rows, expected] = await Promise.all(gateways.map(recorded));
      expect(rows).toMatchObject({ consumers: [{ consumer: 'acme' }, { consumer: 'globex' }] });
      expect(rows).toEqual(expected);
    },
    { timeout: 20_000, interval: 200 },
  );
});
