// TLS to upstreams: certificates are always verified, with the CA and name of the upstream's section.
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamTls } from '../../gateway/plan/upstreams/connection-rules.ts';
import { makeKeyPair } from '../support/key-pairs.ts';
import { makeCertificate } from '../support/untrusted-upstream.ts';
import { openWebSocket } from '../support/websocket-client.ts';
import { startWebSocketUpstream } from '../support/websocket-upstream.ts';
import { startGateway } from './gateway-under-test.ts';
import { get, openRaw, sendRaw, until } from './raw-sockets.ts';

type Pair = { readonly cert: string; readonly key: string };

let server: Pair;
let byAddress: Pair;
let client: Pair;
let stack = new AsyncDisposableStack();

beforeAll(async () => {
  server = await makeKeyPair({ names: ['orders.internal'] });
  byAddress = await makeCertificate();
  client = await makeKeyPair({ names: ['gateway.internal'] });
});
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

interface Seen {
  readonly port: number;
  readonly names: (string | false)[];
  readonly clients: (string | undefined)[];
  readonly hosts: (string | undefined)[];
}

async function startTls(
  options: Parameters<typeof createServer>[0],
  answer: RequestListener = (_request, response) => void response.end('ok'),
): Promise<Seen> {
  const seen: Omit<Seen, 'port'> = { names: [], clients: [], hosts: [] };
  const listening: Server = createServer(options, (request, response) => {
    const socket = request.socket as TLSSocket & { servername: string | false };
    seen.names.push(socket.servername);
    seen.clients.push(socket.getPeerCertificate().subject?.CN?.toString());
    seen.hosts.push(request.headers.host);
    answer(request, response);
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    listening.closeAllConnections();
    return new Promise((resolve) => void listening.close(() => resolve()));
  });
  const bound = listening.address();
  return { ...seen, port: typeof bound === 'object' && bound !== null ? bound.port : 0 };
}

async function ask(port: number, tls: Partial<UpstreamTls> | undefined, host?: string) {
  const section = tls && { ca: undefined, cert: undefined, key: undefined, name: undefined, ...tls };
  const gateway = await startGateway({ upstream: `https://127.0.0.1:${port}`, plan: { tls: section, host } });
  stack.defer(gateway.stop);
  const { statuses } = await sendRaw(gateway.port, get());
  return { status: statuses[0], fault: gateway.facts[0]?.completion.fault?.code };
}

const TRUSTED = { status: 200, fault: undefined };
const REFUSED = { status: 502, fault: 'upstream_tls' };

describe('FWD-19, TLS-8, XFF-5: an upstream over TLS', () => {
  it('is trusted by the CA and the name of its section, and gets that name as SNI', async () => {
    const upstream = await startTls(server);
    expect(await ask(upstream.port, { ca: server.cert, name: 'orders.internal' })).toEqual(TRUSTED);
    expect(upstream.names).toEqual(['orders.internal']);
  });

  it('is trusted by its address if its section has no name', async () => {
    const upstream = await startTls(byAddress);
    expect(await ask(upstream.port, { ca: byAddress.cert })).toEqual(TRUSTED);
    expect(upstream.names).toEqual([false]);
  });

  it('is verified by its address even if the Host field has another name', async () => {
    const upstream = await startTls(byAddress);
    expect(await ask(upstream.port, { ca: byAddress.cert }, 'orders.internal')).toEqual(TRUSTED);
    expect([upstream.names, upstream.hosts]).toEqual([[false], ['orders.internal']]);
  });

  it.each<[string, () => Partial<UpstreamTls> | undefined]>([
    ['another name', () => ({ ca: server.cert, name: 'payments.internal' })],
    ['no name, because its certificate lacks the address', () => ({ ca: server.cert })],
    ['another CA', () => ({ ca: client.cert, name: 'orders.internal' })],
    ['no CA', () => ({ name: 'orders.internal' })],
    ['no section', () => undefined],
  ])('is refused as upstream_tls with %s', async (_, tls) => {
    const upstream = await startTls(server);
    expect(await ask(upstream.port, tls())).toEqual(REFUSED);
    expect(upstream.names).toEqual([]);
  });

  it('is refused as upstream_tls if TLS 1.1 is its newest version', async () => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const upstream = await startTls({ ...server, ...old });
    expect(await ask(upstream.port, { ca: server.cert, name: 'orders.internal' })).toEqual(REFUSED);
  });

  it('gets the client certificate of its section, and none without one', async () => {
    const upstream = await startTls({ ...server, requestCert: true, rejectUnauthorized: false });
    const trust = { ca: server.cert, name: 'orders.internal' };
    await ask(upstream.port, { ...trust, cert: client.cert, key: client.key });
    await ask(upstream.port, trust);
    expect(upstream.clients).toEqual(['gateway.internal', undefined]);
  });

  it('WS-3: is verified in the same way for a WebSocket', async () => {
    const upstream = stack.use(await startWebSocketUpstream(server));
    const open = async (tls: Partial<UpstreamTls>): Promise<number> => {
      const section = { ca: undefined, cert: undefined, key: undefined, name: undefined, ...tls };
      const gateway = await startGateway({ upstream: upstream.url, plan: { tls: section } });
      stack.defer(gateway.stop);
      using socket = await openWebSocket(gateway.port, '/echo', { tls: false, host: 'api.example.com' });
      return socket.status;
    };
    expect(await open({ ca: server.cert, name: 'orders.internal' })).toBe(101);
    expect(await open({ ca: server.cert })).toBe(502);
    expect(await open({ name: 'orders.internal' })).toBe(502);
  });
});

const SPOILT: readonly (readonly [how: string, spoil: (line: Socket) => void, fault: string])[] = [
  ['is reset', (line) => void line.resetAndDestroy(), 'upstream_reset'],
  ['receives octets that are not TLS', (line) => void line.write('this is no TLS'), 'upstream_tls'],
];

describe.each(SPOILT)('a connection over TLS that %s', (_how, spoil, fault) => {
  /** A gateway, a client, and the connections between the gateway and its upstream. */
  async function startLine(answer?: RequestListener) {
    const upstream = await startTls(server, answer);
    const lines: Socket[] = [];
    const between = createTcpServer({ noDelay: true }, (line) => {
      const on = connect({ port: upstream.port, host: '127.0.0.1', noDelay: true });
      for (const socket of [line, on]) socket.on('error', () => undefined);
      lines.push(line);
      line.pipe(on).pipe(line);
      line.once('close', () => on.destroy());
    });
    await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
    stack.defer(() => new Promise((resolve) => void between.close(() => resolve())));
    const bound = between.address();
    const gateway = await startGateway({
      upstream: `https://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`,
      plan: { tls: { ca: server.cert, cert: undefined, key: undefined, name: 'orders.internal' } },
    });
    stack.defer(gateway.stop);
    const client = await openRaw(gateway.port);
    stack.defer(() => void client.socket.destroy());
    return { upstream, lines, gateway, client };
  }
  const post = get('/echo', ['Content-Length: 0'], 'POST');

  it.each([
    ['GET', get()],
    ['POST', post],
  ])('FWD-16: while idle: the next %s is sent once, on another connection', async (_method, request) => {
    const { upstream, lines, client } = await startLine();
    const statuses = () => [...client.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    client.socket.write(get());
    await until(() => statuses().length === 1);
    // A connection is reused only after some turns.
    for (let turns = 0; turns < 5; turns += 1) await turn();
    client.socket.write(request);
    for (const line of lines) spoil(line);
    await until(() => statuses().length === 2);
    expect(statuses()).toEqual(['200', '200']);
    expect(upstream.hosts).toHaveLength(2);
    expect(lines).toHaveLength(2);
  });

  it('FWD-18: before a response: the client gets 502', async () => {
    const { lines, gateway, client } = await startLine(() => {
      for (const line of lines) spoil(line);
    });
    client.socket.write(post);
    await until(() => client.text.endsWith('"}'));
    expect(client.text).toMatch(/^HTTP\/1\.1 502 /);
    expect(gateway.facts[0]?.completion.fault?.code).toBe(fault);
  });

  it.each([
    ['with a length', { 'content-length': '10' }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
    ['without a length', { connection: 'close' }],
  ])('FWD-17: within a body %s: the response is aborted', async (_framing, fields) => {
    const { lines, gateway, client } = await startLine((_request, response) => {
      response.useChunkedEncodingByDefault = 'transfer-encoding' in fields;
      response.writeHead(200, fields).write('hello');
    });
    client.socket.write(post);
    await until(() => client.text.includes('hello'));
    for (const line of lines) spoil(line);
    await until(() => client.ended && gateway.outcomes.length === 1);
    expect(client.text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(client.text).not.toMatch(/\r\n0\r\n/);
    expect(gateway.outcomes).toMatchObject([{ status: 200, aborted: true }]);
    expect(gateway.facts[0]?.completion.fault?.code).toBe(fault);
  });
});
