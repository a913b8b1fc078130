// Bytes that no HTTP library sends: each gets an error body of the specification, and the connection closes.
import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';
import { head, sendBytes } from '../support/raw-client.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let echoUrl = '';

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  echoUrl = echo.url;
  gateway = stack.use(
    await runGateway({
      policies: 'refusals',
      environment: { ECHO: echo.url },
    }),
  );
});
afterAll(() => stack.disposeAsync());

const GET = 'GET /api/open HTTP/1.1';
const POST = 'POST /api/open HTTP/1.1';
const HOST = 'Host: 127.0.0.1';

const rows: readonly (readonly [status: number, reason: string, title: string, bytes: string])[] = [
  [400, 'request_malformed', 'VER-7: a dot segment', head('GET /api/open/../orders HTTP/1.1', HOST)],
  [
    400,
    'request_malformed',
    'VER-7: a dot segment, encoded twice',
    head('GET /api/open/%252e%252e/x HTTP/1.1', HOST),
  ],
  [
    400,
    'request_malformed',
    'RET-3: a path that starts with two slashes',
    head('GET //evil.example/ HTTP/1.1', HOST),
  ],
  [400, 'request_malformed', 'SMG-19: a fragment', head('GET /api/open#x HTTP/1.1', HOST)],
  [400, 'request_malformed', 'SMG-6: two Host lines', head(GET, HOST, 'Host: 127.0.0.1')],
  [400, 'request_malformed', 'SMG-6: no Host', head(GET)],
  [400, 'request_malformed', 'SMG-6: an invalid Host', head(GET, 'Host: a b/@x')],
  [
    400,
    'request_malformed',
    'SMG-17: two Authorization lines',
    head(GET, HOST, 'Authorization: Bearer a', 'Authorization: Bearer b'),
  ],
  [
    400,
    'request_malformed',
    'SMG-1: both framings',
    `${head(POST, HOST, 'Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  ],
  [
    400,
    'request_malformed',
    'SMG-5: two lengths',
    `${head(POST, HOST, 'Content-Length: 4', 'Content-Length: 5')}abcde`,
  ],
  [400, 'request_malformed', 'SMG-9: a space before the colon', head(GET, HOST, 'X-Space : 1')],
  [400, 'request_malformed', 'SMG-10: a folded line', head(GET, HOST, 'X-Fold: 1', ' 2')],
  [
    400,
    'request_malformed',
    'SMG-13: an invalid chunk size',
    `${head(POST, HOST, 'Transfer-Encoding: chunked')}zz\r\n`,
  ],
  [400, 'request_malformed', 'bytes of a TLS handshake', '\u0016\u0003\u0001\u0000\r\n\r\n'],
  [
    413,
    'request_malformed',
    'SMG-12: chunk extensions without end',
    `${head(POST, HOST, 'Transfer-Encoding: chunked')}1;x=${'y'.repeat(20_000)}`,
  ],
  [
    414,
    'request_malformed',
    'SMG-24: a target that is too long',
    head(`GET /api/open/${'x'.repeat(8_200)} HTTP/1.1`, HOST),
  ],
  [
    417,
    'request_malformed',
    'FWD-11: an unknown expectation',
    head(POST, HOST, 'Expect: coffee', 'Content-Length: 4'),
  ],
  [
    431,
    'request_malformed',
    'SMG-24: a head that is too large',
    head(GET, HOST, `X-Large: ${'x'.repeat(20_000)}`),
  ],
  [
    431,
    'request_malformed',
    'SMG-24: too many lines',
    head(GET, HOST, ...Array.from({ length: 300 }, () => 'X-Many: 1')),
  ],
  [501, 'method_unknown', 'FWD-15: an unknown method', head('BREW /api/open HTTP/1.1', HOST)],
  [501, 'method_unknown', 'FWD-8: TRACE', head('TRACE /api/open HTTP/1.1', HOST)],
  [
    501,
    'transfer_coding_unknown',
    'SMG-3: a coding besides chunked',
    `${head(POST, HOST, 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`,
  ],
  [505, 'protocol_version_unsupported', 'SMG-15: HTTP/1.2', head('GET /api/open HTTP/1.2', HOST)],
  [
    505,
    'protocol_version_unsupported',
    'SMG-16: HTTP/2.0 in an HTTP/1 request line',
    head('GET /api/open HTTP/2.0', HOST),
  ],
];

const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  413: 'Content Too Large',
  414: 'URI Too Long',
  417: 'Expectation Failed',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  505: 'HTTP Version Not Supported',
};

describe('a malformed request', () => {
  it.concurrent.each(rows)(
    'SMG-26: %i %s, then the connection closes: %s',
    async (status, reason, _title, bytes) => {
      // A second request follows. The rest of the first must not be parsed as one.
      const answer = await sendBytes(gateway.https, bytes + head(GET, HOST));
      expect(answer.status).toBe(status);
      expect(answer.json).toEqual({
        error: PHRASES[status],
        message: expect.stringMatching(/^[A-Za-z].+\.$/),
      });
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'proxy-status': 'sundial; error=http_request_error',
        'cache-control': 'no-store',
        // TLS-6: also without a readable request.
        'strict-transport-security': 'max-age=86400',
        connection: 'close',
        date: expect.stringMatching(/ GMT$/),
      });
      expect(answer.headers['retry-after']).toBeUndefined();
      const line = await gateway.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: reason, status });
    },
  );

  it('never looks complete to an upstream', async () => {
    await using echo = overHttp1(Number(new URL(echoUrl).port), { tls: false });
    await vi.waitFor(
      async () => {
        const { count, active, aborted } = (await echo.ask({ path: '/echo/-/count' })).json;
        expect(active).toBe(0);
        expect(aborted).toHaveLength(Number(count));
        expect(count).toBeLessThanOrEqual(2);
      },
      { timeout: 20_000 },
    );
  });

  it('SMG-7: an absolute target overrides Host, and gets 421 for an unknown authority', async () => {
    const answer = await sendBytes(
      gateway.https,
      head('GET https://evil.example/api/open HTTP/1.1', HOST, 'Connection: close'),
    );
    expect(answer.status).toBe(421);
    expect(answer.json.error).toBe('Misdirected Request');
  });

  it('SMG-8: OPTIONS * is answered by the gateway itself', async () => {
    const answer = await sendBytes(gateway.https, head('OPTIONS * HTTP/1.1', HOST, 'Connection: close'));
    expect(answer.status).toBe(204);
    expect(answer.headers.allow).toBe('GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
    expect(answer.body).toBe('');
  });

  it('FWD-10: a refused request with Expect gets the refusal at once and no 100', async () => {
    const answer = await sendBytes(
      gateway.https,
      head('POST /api/v1/orders HTTP/1.1', HOST, 'Expect: 100-continue', 'Content-Length: 1000000'),
    );
    expect(answer.text).toMatch(/^HTTP\/1\.1 410 Gone\r\n/);
    expect(answer.text).not.toContain('100 Continue');
    expect(answer.headers.connection).toBe('close');
  });

  it('TLS-3: an unknown server name in the handshake gets no certificate', async () => {
    const socket = connect({ port: gateway.https, host: '127.0.0.1', servername: 'other.example.com' });
    await expect(once(socket, 'secureConnect')).rejects.toThrow();
  });
});
