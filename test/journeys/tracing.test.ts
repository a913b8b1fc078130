// A gateway with an OpenTelemetry SDK: one span for each request, between those of client and upstream.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type GatewayProcess, startProcess } from '../support/gateway-process.ts';
import { type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { freePorts } from '../support/ports.ts';
import { openWebSocket } from '../support/websocket-client.ts';
import { startWebSocketUpstream, type WebSocketUpstream } from '../support/websocket-upstream.ts';

interface WrittenSpan {
  readonly name: string;
  readonly status: { readonly code: number };
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent?: string;
}

const PARENT = '00f067aa0ba902b7';
const ERROR = 2;
const stack = new AsyncDisposableStack();
let sockets: WebSocketUpstream;
let gateway: GatewayProcess;
let ports: { readonly https: number; readonly admin: number };
let spansFile = '';
let count = 0;
const clients = new Map<string, Client>();

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sundial-tracing-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  spansFile = join(folder, 'spans');
  await writeFile(spansFile, '');
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  sockets = stack.use(await startWebSocketUpstream());
  const [dead] = await freePorts(1);
  const config = join(import.meta.dirname, 'gateway.yaml');
  gateway = stack.use(
    startProcess(['run', '--config', config], {
      NODE_OPTIONS: `--import ${join(import.meta.dirname, 'tracing/otel.ts')}`,
      SPANS: spansFile,
      DATA: join(folder, 'data'),
      STORE: `embedded:${join(folder, 'data')}`,
      ISSUER: 'http://127.0.0.1:9',
      POLICIES: join(import.meta.dirname, 'tracing/*.yaml'),
      ECHO: echo.url,
      SOCKETS: sockets.url,
      DEAD: `http://127.0.0.1:${dead}`,
    }),
  );
  ports = await gateway.ready;
  clients.set('HTTP/1.1', stack.use(overHttp1(ports.https)));
  clients.set('HTTP/2', stack.use(overHttp2(ports.https)));
});
afterAll(() => stack.disposeAsync());

const newTrace = (): string => (++count).toString(16).padStart(32, '5');

const spansOf = (traceId: string): Promise<readonly WrittenSpan[]> =>
  vi.waitFor(
    async () => {
      const lines = (await readFile(spansFile, 'utf8')).split('\n').slice(0, -1);
      const spans = lines
        .map((line): WrittenSpan => JSON.parse(line))
        .filter((span) => span.traceId === traceId);
      if (spans.length === 0) throw new Error(`no span of ${traceId}`);
      return spans;
    },
    { timeout: 20_000, interval: 10 },
  );

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s a request', (protocol) => {
  const ask = async (path: string, headers: Record<string, string>) => {
    const answer = await clients.get(protocol)?.ask({ path, headers });
    if (answer === undefined) throw new Error(`no client for ${protocol}`);
    return answer;
  };
  const seen = ({ json }: { readonly json: Readonly<Record<string, unknown>> }, name: string) =>
    (json.headers as [string, string][]).filter(([each]) => each === name).map(([, value]) => value);

  it('is a span between that of the client and that of the upstream, with tracestate', async () => {
    const id = newTrace();
    const answer = await ask('/api/v1/traced/7?secret=1', {
      traceparent: `00-${id}-${PARENT}-01`,
      tracestate: 'a=1,b=2',
    });
    const [span, ...more] = await spansOf(id);
    expect(more).toEqual([]);
    expect(span).toMatchObject({ name: 'GET traced v1', parent: PARENT, status: { code: 0 } });
    expect(span?.attributes).toMatchObject({
      'url.path': '/api/v1/traced/7',
      'http.response.status_code': 200,
      'network.protocol.version': protocol === 'HTTP/2' ? '2.0' : '1.1',
    });
    expect(JSON.stringify(span)).not.toContain('secret');
    expect(seen(answer, 'traceparent')).toEqual([`00-${id}-${span?.spanId}-01`]);
    expect(seen(answer, 'tracestate')).toEqual(['a=1,b=2']);
  });

  it('that its client does not record gets no span', async () => {
    const id = newTrace();
    const answer = await ask('/api/v1/traced', { traceparent: `00-${id}-${PARENT}-00` });
    expect(seen(answer, 'traceparent')[0]).toMatch(new RegExp(`^00-${id}-(?!${PARENT})[\\da-f]{16}-00$`));
    // Once a later trace is written, an earlier one would be too.
    const later = newTrace();
    await ask('/api/v1/traced', { traceparent: `00-${later}-${PARENT}-01` });
    await spansOf(later);
    expect(await readFile(spansFile, 'utf8')).not.toContain(id);
  });

  it('without a valid trace begins one', async () => {
    for (const headers of [{}, { traceparent: `00-${'0'.repeat(32)}-${PARENT}-01`, tracestate: 'a=1' }]) {
      const answer = await ask('/api/v1/traced', headers);
      const [traceparent = ''] = seen(answer, 'traceparent');
      expect(seen(answer, 'tracestate')).toEqual([]);
      const [span] = await spansOf(traceparent.slice(3, 35));
      expect(span?.parent).toBeUndefined();
      expect(traceparent).toContain(span?.spanId);
    }
  });

  it.each([
    [410, '/api/v0/traced', 'GET traced v0', 0, { 'sundial.refusal': 'version_retired' }],
    [404, '/nowhere', 'GET', 0, { 'sundial.refusal': 'route_unknown' }],
    [429, '/api/v2/traced', 'GET traced v2', 0, { 'sundial.refusal': 'rate_limited' }],
    [502, '/api/v4/traced', 'GET traced v4', ERROR, { 'error.type': 'upstream_refused' }],
  ])('with the response %i has the outcome in its span', async (status, path, name, code, attributes) => {
    if (status === 429) await ask(path, {});
    const id = newTrace();
    const answer = await ask(path, { traceparent: `00-${id}-${PARENT}-01` });
    expect(answer.status).toBe(status);
    const [span] = await spansOf(id);
    expect(span).toMatchObject({ name, parent: PARENT, status: { code }, attributes });
  });
});

it('the span of a WebSocket is its handshake, and the upstream gets its id', async () => {
  const id = newTrace();
  using opened = await openWebSocket(ports.https, '/api/v3/traced', {
    lines: [`traceparent: 00-${id}-${PARENT}-01`],
  });
  expect(opened.status).toBe(101);
  const [span] = await spansOf(id);
  expect(span).toMatchObject({ name: 'GET traced v3', parent: PARENT });
  expect(span?.attributes['http.response.status_code']).toBe(101);
  expect(sockets.seen[0]?.headers.traceparent).toBe(`00-${id}-${span?.spanId}-01`);
});

it('access log and metrics have the same trace id', async () => {
  const id = newTrace();
  await clients.get('HTTP/1.1')?.ask({
    path: '/api/v1/traced',
    headers: { traceparent: `00-${id}-${PARENT}-01` },
  });
  await vi.waitFor(() => expect(gateway.stdout).toContain(`"trace_id":"${id}"`), { timeout: 20_000 });
  await using admin = overHttp1(ports.admin, { tls: false });
  const accept = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5';
  const open = await admin.ask({ path: '/metrics', headers: { accept } });
  expect(open.headers['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
  expect(open.text).toMatch(
    /_bucket\{le="[^"]+",api="traced",version="v1"\} \d+ # \{trace_id="[\da-f]{32}"\} /,
  );
  expect((await admin.ask({ path: '/metrics' })).text).not.toContain('trace_id');
});
