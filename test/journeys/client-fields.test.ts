// No spelling of a field by which clients could claim an address, identity or target reaches a service.
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { receive } from '../../upstreams/echo/received.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { overHttp2 } from '../support/http-client.ts';
import { head, sendBytes } from '../support/raw-client.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';
import { openWebSocket } from '../support/websocket-client.ts';
import { startWebSocketUpstream, type WebSocketUpstream } from '../support/websocket-upstream.ts';
import { batchesOf, DROPPED, type FieldLine, spellingsOf } from './client-fields/spellings.ts';

const FOLDER = 'client-fields/policies';
const CONFIG = 'client-fields/gateway.yaml';
const CANARY = /canary:[^"\s,]*/g;

const stack = new AsyncDisposableStack();
let sockets: WebSocketUpstream;
let stranger: RunningGateway;
/** Trusts every peer as a proxy. */
let behindProxy: RunningGateway;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  sockets = stack.use(await startWebSocketUpstream());
  const environment = {
    ECHO: echo.url,
    ECHO_H2: await startEchoOverHttp2(),
    SOCKETS: sockets.url,
    FALTERING: await startFalteringEcho(),
  };
  const run = (proxies: string) =>
    runGateway({ config: CONFIG, policies: FOLDER, environment: { ...environment, PROXIES: proxies } });
  stranger = stack.use(await run('192.0.2.0/24'));
  behindProxy = stack.use(await run('127.0.0.0/8'));
});
afterAll(() => stack.disposeAsync());

async function startEchoOverHttp2(): Promise<string> {
  const server = createServer(async (request, response) => {
    response.end(JSON.stringify(await receive(request as unknown as Parameters<typeof receive>[0])));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => new Promise((resolve) => void server.close(() => resolve())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Closes the connection of each first attempt, and responds to the second with the received request. */
async function startFalteringEcho(): Promise<string> {
  let tries = 0;
  const upstream = await startRawUpstream((_target, socket, received) => {
    tries += 1;
    if (tries % 2 === 1) return void socket.destroy();
    const body = JSON.stringify({ received });
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  });
  return stack.use(upstream).url;
}

/** What the upstream received, as text. */
type Sent = (gateway: RunningGateway, lines: readonly FieldLine[]) => Promise<string>;

const written = (lines: readonly FieldLine[]) => lines.map(({ name, value }) => `${name}: ${value}`);

function overHttp1(path: string, method = 'GET', more: readonly string[] = [], body = ''): Sent {
  return async (gateway, lines) => {
    const start = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close', 'X-Ordinary: 1'];
    const answer = await sendBytes(gateway.https, head(...start, ...more, ...written(lines)) + body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  };
}

function sendOverHttp2(path: string): Sent {
  return async (gateway, lines) => {
    await using client = overHttp2(gateway.https);
    const headers: Record<string, string[]> = { 'x-ordinary': ['1'] };
    for (const { name, value } of lines) {
      const sent = headers[name.toLowerCase()] ?? [];
      headers[name.toLowerCase()] = [...sent, value];
    }
    const answer = await client.ask({ path, headers });
    expect(answer.status, answer.text).toBe(200);
    return answer.text;
  };
}

function openTunnel(path: string): Sent {
  return async (gateway, lines) => {
    using socket = await openWebSocket(gateway.https, path, { lines: ['X-Ordinary: 1', ...written(lines)] });
    expect(socket.status).toBe(101);
    return JSON.stringify(sockets.seen.at(-1)?.headers);
  };
}

let keys = 0;
const WAYS: Readonly<Record<string, Sent>> = {
  'HTTP/1.1': overHttp1('/plain'),
  'HTTP/2': sendOverHttp2('/plain'),
  'HTTP/2 towards the upstream': overHttp1('/h2'),
  'a WebSocket': openTunnel('/socket'),
  'an idempotency key': (gateway, lines) => {
    keys += 1;
    const more = [`Idempotency-Key: "key-${keys}-0123456789"`, 'Content-Length: 5'];
    return overHttp1('/once', 'POST', more, 'hello')(gateway, lines);
  },
  'an edited body': overHttp1('/noticed/v1'),
  'a second try': overHttp1('/retried'),
};

describe('XFF-1, SMG-25: identity and address fields of a client reach no service', () => {
  it.each(Object.keys(WAYS))('in any spelling, over %s', async (way) => {
    const arrived: string[] = [];
    for (const lines of batchesOf(DROPPED)) {
      const text = (await WAYS[way]?.(stranger, lines)) ?? '';
      expect(text).toMatch(/x-ordinary/i);
      arrived.push(...(text.match(CANARY) ?? []));
    }
    expect(arrived).toEqual([]);
  });
});

describe('SMG-25: fields that the gateway sets, removes or reads', () => {
  it('VER-4: another spelling of the version header gets 400, and never the default', async () => {
    for (const { name } of spellingsOf('Acme-Version').filter((line) => !/^acme-version$/i.test(line.name))) {
      const bytes = head('GET /told/v1 HTTP/1.1', 'Host: 127.0.0.1', `${name}: v1`, 'Connection: close');
      expect([name, (await sendBytes(stranger.https, bytes)).status]).toEqual([name, 400]);
    }
  });

  it.each(['X-Tenant', 'X-Debug-Level', 'X-Consumer-Id', 'API-Version', 'X-Told-Version'])(
    'do not reach the service in another spelling of %s',
    async (name) => {
      const others = spellingsOf(name).filter((line) => line.name.toLowerCase() !== name.toLowerCase());
      expect((await overHttp1('/told/v1')(stranger, others)).match(CANARY)).toBeNull();
    },
  );
});

const KEPT = ['X-Auth-Request-User', 'X-Forwarded-User', 'Remote-User'];

/** The values that arrived under a name, in any case. */
async function arrivedAs(name: string, way: Sent, gateway: RunningGateway): Promise<readonly string[]> {
  return (await way(gateway, spellingsOf(name))).match(CANARY) ?? [];
}

describe('XFF-1: headers.request.keep', () => {
  it.each([
    ['any', 'a client', () => stranger],
    ['any', 'a trusted proxy', () => behindProxy],
    ['trusted', 'a trusted proxy', () => behindProxy],
  ])('from %s forwards the listed fields of %s, and no others', async (from, _who, gateway) => {
    for (const name of KEPT) {
      const sent = spellingsOf(name).filter((line) => line.name.toLowerCase() === name.toLowerCase());
      const arrived = await arrivedAs(name, overHttp1(`/kept-${from}`), gateway());
      expect(arrived, name).toEqual(sent.map(({ value }) => value));
    }
    const others = DROPPED.filter((name) => !KEPT.includes(name));
    for (const lines of batchesOf(others))
      expect((await overHttp1(`/kept-${from}`)(gateway(), lines)).match(CANARY)).toBeNull();
  });

  it('from trusted_proxies forwards no field of other peers, over any protocol', async () => {
    for (const name of KEPT) {
      expect(await arrivedAs(name, overHttp1('/kept-trusted'), stranger)).toEqual([]);
      expect(await arrivedAs(name, sendOverHttp2('/kept-trusted'), stranger)).toEqual([]);
    }
    expect(await arrivedAs('X-Auth-Request-User', openTunnel('/tunnel'), stranger)).toEqual([]);
  });

  it('from trusted_proxies forwards fields over HTTP/2 and WebSockets too', async () => {
    const name = 'X-Auth-Request-User';
    expect((await arrivedAs(name, sendOverHttp2('/kept-trusted'), behindProxy)).length).toBeGreaterThan(0);
    expect((await arrivedAs(name, openTunnel('/tunnel'), behindProxy)).length).toBeGreaterThan(0);
  });

  it('is needed for a trusted proxy too: without it, all these fields are dropped', async () => {
    for (const lines of batchesOf(DROPPED.filter((name) => !/^X-Forwarded-(?:For|Host|Proto)$/.test(name))))
      expect((await overHttp1('/plain')(behindProxy, lines)).match(CANARY)).toBeNull();
  });
});
