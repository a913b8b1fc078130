// TLS towards upstreams: always verified, by the authorities, the name and the certificate of the upstream's own section.
import { createServer, type Server } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamTls } from '../../gateway/plan/upstreams/connection-rules.ts';
import { makeKeyPair } from '../support/key-pairs.ts';
import { makeCertificate } from '../support/untrusted-upstream.ts';
import { openWebSocket } from '../support/websocket-client.ts';
import { startWebSocketUpstream } from '../support/websocket-upstream.ts';
import { startGateway } from './gateway-under-test.ts';
import { get, sendRaw } from './raw-sockets.ts';

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

async function startTls(options: Parameters<typeof createServer>[0]): Promise<Seen> {
  const seen: Omit<Seen, 'port'> = { names: [], clients: [], hosts: [] };
  const listening: Server = createServer(options, (request, response) => {
    const socket = request.socket as TLSSocket & { servername: string | false };
    seen.names.push(socket.servername);
    seen.clients.push(socket.getPeerCertificate().subject?.CN?.toString());
    seen.hosts.push(request.headers.host);
    response.end('ok');
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
  return { status: statuses[0], fault: gateway.facts[0]?.completion.fault };
}

const TRUSTED = { status: 200, fault: undefined };
const REFUSED = { status: 502, fault: 'upstream_tls' };

describe('FWD-19, TLS-8, XFF-5: an upstream over TLS', () => {
  it('is believed for the authority and the name of its section, which is sent as server name', async () => {
    const upstream = await startTls(server);
    expect(await ask(upstream.port, { ca: server.cert, name: 'orders.internal' })).toEqual(TRUSTED);
    expect(upstream.names).toEqual(['orders.internal']);
  });

  it('is believed for its address where no name is written', async () => {
    const upstream = await startTls(byAddress);
    expect(await ask(upstream.port, { ca: byAddress.cert })).toEqual(TRUSTED);
    expect(upstream.names).toEqual([false]);
  });

  it('its Host field says nothing of whose certificate is wanted', async () => {
    const upstream = await startTls(byAddress);
    expect(await ask(upstream.port, { ca: byAddress.cert }, 'orders.internal')).toEqual(TRUSTED);
    expect([upstream.names, upstream.hosts]).toEqual([[false], ['orders.internal']]);
  });

  it.each<[string, () => Partial<UpstreamTls> | undefined]>([
    ['another name', () => ({ ca: server.cert, name: 'payments.internal' })],
    ['no name, for its address', () => ({ ca: server.cert })],
    ['another authority', () => ({ ca: client.cert, name: 'orders.internal' })],
    ['no authority of its own', () => ({ name: 'orders.internal' })],
    ['no section at all', () => undefined],
  ])('is upstream_tls with %s', async (_, tls) => {
    const upstream = await startTls(server);
    expect(await ask(upstream.port, tls())).toEqual(REFUSED);
    expect(upstream.names).toEqual([]);
  });

  it('is upstream_tls where it speaks nothing newer than TLS 1.1', async () => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const upstream = await startTls({ ...server, ...old });
    expect(await ask(upstream.port, { ca: server.cert, name: 'orders.internal' })).toEqual(REFUSED);
  });

  it('sees the certificate of its section, and none without one', async () => {
    const upstream = await startTls({ ...server, requestCert: true, rejectUnauthorized: false });
    const trust = { ca: server.cert, name: 'orders.internal' };
    await ask(upstream.port, { ...trust, cert: client.cert, key: client.key });
    await ask(upstream.port, trust);
    expect(upstream.clients).toEqual(['gateway.internal', undefined]);
  });

  it('WS-3: is spoken to in the same way for a WebSocket', async () => {
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
