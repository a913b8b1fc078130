// What upstreams receive: one path, one version, the unchanged query, no field that is forged or ends here.
import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import type { Received } from '../../upstreams/echo/received.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Ask, type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { head, sendBytes } from '../support/raw-client.ts';
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts';

const stack = new AsyncDisposableStack();
const clients = new Map<string, Client>();
let gateway: RunningGateway;
let upstream: RawUpstream;
let echoUrl = '';

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  echoUrl = echo.url;
  upstream = stack.use(
    await startRawUpstream((_target, socket) => void socket.write('HTTP/1.1 204 No Content\r\n\r\n')),
  );
  gateway = stack.use(
    await runGateway({ policies: 'bytes', environment: { ECHO: echo.url, BYTES: upstream.url } }),
  );
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
});
afterAll(() => stack.disposeAsync());

async function received(protocol: string, ask: Ask): Promise<Received> {
  const answer = await clients.get(protocol)?.ask(ask);
  expect(answer?.status).toBe(200);
  return answer?.json as unknown as Received;
}

const valuesOf = ({ headers }: Received, name: string) =>
  headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s the upstream gets', (protocol) => {
  it.each([
    ['/api/v1/orders/7?x=1', {}],
    ['/api/orders/7?x=1', { 'acme-version': 'v1' }],
    ['/api/orders/7?x=1', { 'acme-version': '1', 'api-version': 'v9' }],
    ['/api/v1/orders/7?x=1', { 'acme-version': '1' }],
  ])('VER-9: one path and one version for %s with %o', async (path, headers) => {
    const seen = await received(protocol, { path, headers: headers as Record<string, string> });
    expect(seen.target).toBe('/echo/7?x=1');
    expect(valuesOf(seen, 'api-version')).toEqual(['v1']);
    expect(valuesOf(seen, 'acme-version')).toEqual([]);
  });

  it.each([
    ['/api/v1/orders?x=%2f&y=a+b&&z==&%7e=%C3%A9&?', '/echo?x=%2f&y=a+b&&z==&%7e=%C3%A9&?'],
    ['/api/v1/orders?', '/echo?'],
    ['/api/v1/orders/a%2Fb/%C3%A9%20c;d=1?q', '/echo/a%2Fb/%C3%A9%20c;d=1?q'],
    ['/api/v1/orders/%7euser/', '/echo/~user/'],
  ])('ORD-2: %s as %s', async (path, target) => {
    expect((await received(protocol, { path })).target).toBe(target);
  });

  it('VER-2, VER-9: the version of the path, whatever unlisted carriers name', async () => {
    const headers = { 'api-version': '2', accept: 'application/vnd.acme.v2+json, */*' };
    const seen = await received(protocol, { path: '/api/v1/orders/7?version=2', headers });
    expect(seen.target).toMatch(/^\/echo\/7\b/);
    expect(valuesOf(seen, 'api-version')).toEqual(['v1']);
  });

  it('the trace of the client, or a new one, which the log has too', async () => {
    const id = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${id}-00f067aa0ba902b7-01`;
    const own = await received(protocol, {
      path: '/api/v1/orders/7',
      headers: { traceparent, tracestate: 'a=1' },
    });
    expect(valuesOf(own, 'traceparent')).toEqual([traceparent]);
    expect(valuesOf(own, 'tracestate')).toEqual(['a=1']);
    expect(await gateway.accessLine(valuesOf(own, 'x-request-id')[0])).toMatchObject({ trace_id: id });
    const headers = { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, tracestate: 'a=1' };
    const begun = await received(protocol, { path: '/api/v1/orders/7', headers });
    const [made] = valuesOf(begun, 'traceparent');
    expect(made).toMatch(/^00-(?!0{32})[\da-f]{32}-[\da-f]{16}-03$/);
    expect(valuesOf(begun, 'tracestate')).toEqual([]);
    const line = await gateway.accessLine(valuesOf(begun, 'x-request-id')[0]);
    expect(line.trace_id).toBe(made?.slice(3, 35));
  });

  it('XFF-1, XFF-4: the real client address, whatever the client claims', async () => {
    const headers = {
      'x-forwarded-for': '192.0.2.66',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-anything': '1',
      forwarded: 'for=192.0.2.66;host=evil.example',
      'x-real-ip': '192.0.2.66',
      'x-user-id': 'root',
      'x-client-cert': 'forged',
      x_user_id: 'root',
    };
    const seen = await received(protocol, { path: '/api/v1/orders', headers });
    expect(valuesOf(seen, 'x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(valuesOf(seen, 'x-forwarded-proto')).toEqual(['https']);
    expect(valuesOf(seen, 'x-forwarded-host')).toEqual([`127.0.0.1:${gateway.https}`]);
    const text = JSON.stringify(seen.headers);
    for (const forged of ['192.0.2.66', 'evil.example', 'root', 'forged', 'anything'])
      expect(text).not.toContain(forged);
  });

  it('FWD-6, ERR-7: Via and X-Request-ID', async () => {
    const headers = { via: '1.0 fred', 'x-request-id': 'my-request-0001' };
    const seen = await received(protocol, { path: '/api/v1/orders', headers });
    expect(valuesOf(seen, 'via')).toEqual([`1.0 fred, ${protocol === 'HTTP/2' ? '2.0' : '1.1'} sundial`]);
    expect(valuesOf(seen, 'x-request-id')).toEqual(['my-request-0001']);
    const other = await received(protocol, {
      path: '/api/v1/orders',
      headers: { 'x-request-id': 'no <id>' },
    });
    expect(valuesOf(other, 'x-request-id')[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ['OPTIONS', '5', ['4']],
    ['OPTIONS', '1', ['0']],
    ['OPTIONS', '010', ['9']],
    ['OPTIONS', undefined, []],
    ['GET', '5', ['5']],
    ['GET', '0', ['0']],
  ])(
    'FWD-8: %s with the Max-Forwards %s, which the gateway reduces for OPTIONS only',
    async (method, sent, left) => {
      const headers: Record<string, string> = sent === undefined ? {} : { 'max-forwards': sent };
      const seen = await received(protocol, { path: '/api/v1/orders', method, headers });
      expect(valuesOf(seen, 'max-forwards')).toEqual(left);
    },
  );

  it.each(['0', '00'])(
    'FWD-8: no OPTIONS with Max-Forwards: %s, which ends at the gateway itself',
    async (sent) => {
      const target = `/api/v2/orders/last-hop-${sent}-${protocol.replace('/', '')}`;
      const answer = await clients.get(protocol)?.ask({
        path: target,
        method: 'OPTIONS',
        headers: { 'max-forwards': sent },
      });
      expect(answer?.status).toBe(204);
      expect(answer?.headers.allow).toBe('GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
      expect(upstream.connections.filter(({ received: all }) => all.includes('last-hop'))).toEqual([]);
    },
  );

  it('C304-1, RNG-1: conditions, ranges and other fields unchanged', async () => {
    const headers = {
      accept: 'a/b;q=0.5, */*',
      cookie: 'a=1; b=2',
      'x-mine': 'ä',
      'if-none-match': 'W/"x", "y"',
      'if-match': '"x"',
      'if-modified-since': 'Fri, 01 Jan 2027 00:00:00 GMT',
      'if-unmodified-since': 'Fri, 01 Jan 2027 00:00:00 GMT',
      range: 'bytes=0-1, 5-',
      'if-range': '"x"',
    };
    const seen = await received(protocol, { path: '/api/v1/orders', headers });
    for (const [name, value] of Object.entries(headers)) {
      expect(valuesOf(seen, name).map((each) => Buffer.from(each, 'latin1').toString('latin1'))).toEqual([
        value,
      ]);
    }
  });
});

describe('a raw request', () => {
  const lines = ['Host: 127.0.0.1', 'Connection: close'];

  it('FWD-1, FWD-2: loses its connection fields, and cannot remove fields of the gateway', async () => {
    const answer = await sendBytes(
      gateway.https,
      head(
        'GET /api/v1/orders HTTP/1.1',
        'Host: 127.0.0.1',
        'Connection: close, X-Drop, API-Version, X-Request-Id, Via, X-Forwarded-For',
        'X-Drop: 1',
        'Keep-Alive: timeout=5',
        'Proxy-Connection: keep-alive',
        'Proxy-Authorization: Basic eDp5',
        'TE: trailers',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
      ),
    );
    const seen = JSON.parse(answer.body.replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/gi, '')) as Received;
    const names = seen.headers.map(([name]) => name.toLowerCase());
    for (const name of [
      'x-drop',
      'keep-alive',
      'proxy-connection',
      'proxy-authorization',
      'te',
      'upgrade',
      'http2-settings',
    ]) {
      expect(names).not.toContain(name);
    }
    for (const name of ['api-version', 'x-request-id', 'via', 'x-forwarded-for']) {
      expect(names.filter((each) => each === name)).toHaveLength(1);
    }
  });

  it('FWD-14, SMG-21: as a chunked DELETE stays one request, without trailers', async () => {
    const smuggled = 'GET /bytes/admin HTTP/1.1\r\nHost: x\r\n\r\n'; // 0x26 bytes
    const body = `${smuggled.length.toString(16)};ext=1\r\n${smuggled}\r\n0\r\nAuthorization: Bearer canary\r\n\r\n`;
    const request = head(
      'DELETE /api/v2/orders/one HTTP/1.1',
      ...lines,
      'Transfer-Encoding: chunked',
      'Trailer: Authorization',
    );
    const answer = await sendBytes(gateway.https, request + body);
    expect(answer.status).toBe(204);
    const [connection] = upstream.connections.filter(({ received: all }) => all.includes('/bytes/one'));
    const [sent = '', after] = (connection?.received ?? '').split(/(?<=\r\n\r\n)(?=GET|26)/);
    expect(sent).toMatch(/^DELETE \/bytes\/one HTTP\/1\.1\r\n/);
    // SMG-21: framed anew by one length or one chunk, so that no part of it is a request.
    const byLength = /\r\ncontent-length: 38\r\n/i.test(sent);
    expect(/\r\ntransfer-encoding: chunked\r\n/i.test(sent)).toBe(!byLength);
    expect(after).toBe(byLength ? smuggled : `26\r\n${smuggled}\r\n0\r\n\r\n`);
    expect(connection?.received).not.toMatch(/canary|ext=1|trailer/i);
    expect(connection?.received).toMatch(/\r\nedition: v2\r\n/i);
  });
});

it('with an OpenTelemetry SDK, spans lead from the client by the gateway to the upstream', async () => {
  const spans = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
  );
  try {
    await using traced = await runGateway({
      policies: 'bytes',
      environment: { ECHO: echoUrl, BYTES: upstream.url },
    });
    await using client = overHttp1(traced.https);
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const { json, headers } = await client.ask({ path: '/api/v1/orders/7', headers: { traceparent } });
    await traced.accessLine(headers['x-request-id']);
    const [span] = spans.getFinishedSpans();
    expect(span).toMatchObject({
      name: 'GET orders v1',
      parentSpanContext: { spanId: '00f067aa0ba902b7' },
      attributes: { 'sundial.request_id': headers['x-request-id'], 'http.response.status_code': 200 },
    });
    const own = span?.spanContext();
    expect(valuesOf(json as unknown as Received, 'traceparent')).toEqual([
      `00-${own?.traceId}-${own?.spanId}-01`,
    ]);
  } finally {
    trace.disable();
  }
});
