// The admin listener over a real socket: its pages, its health, and the requests that it refuses.
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { isOwnHost } from '../../gateway/admin/access.ts';
import {
  type AdminListener,
  type AdminListenerOptions,
  createAdminListener,
} from '../../gateway/admin/admin-listener.ts';
import { healthRoutes, type Readiness, type ReadinessPorts } from '../../gateway/admin/readiness.ts';

const ready: Readiness = {
  state: 'ready',
  store: { kind: 'redis', state: 'up' },
  revision: 'abc',
  policies: { reloadRefused: false, restartNeeded: false, quarantined: [], leftOut: [] },
};
const page = { contentType: 'text/plain; version=0.0.4; charset=utf-8', body: 'sundial_up 1\n' };

let open: AdminListener | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

const options = ({
  metrics = { render: async () => page },
  readiness = () => ready,
  ...changes
}: Partial<AdminListenerOptions & ReadinessPorts> = {}): AdminListenerOptions => ({
  address: { host: '127.0.0.1', port: 0 },
  token: 'a-token-of-thirty-two-characters',
  routes: healthRoutes({ metrics, readiness }),
  audit: () => {},
  onError: () => {},
  ...changes,
});

async function start(changes: Partial<AdminListenerOptions & ReadinessPorts> = {}): Promise<AdminListener> {
  open = await createAdminListener(options(changes));
  return open;
}

interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends raw bytes, because a normal client would correct them. */
async function send(
  to: AdminListener,
  firstLine: string,
  lines: readonly string[] = ['Host: localhost'],
  body = '',
): Promise<RawAnswer> {
  const socket = connect(to.address.port, '127.0.0.1');
  socket.write([firstLine, ...lines, 'Connection: close', '', body].join('\r\n'));
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  const split = text.indexOf('\r\n\r\n');
  return {
    status: Number(text.split(' ')[1]),
    head: text.slice(0, split).toLowerCase(),
    body: text.slice(split + 4),
  };
}

describe('the admin listener', () => {
  it('serves the metrics page', async () => {
    const answer = await send(await start(), 'GET /metrics HTTP/1.1');
    expect(answer).toMatchObject({ status: 200, body: page.body });
    expect(answer.head).toContain(`content-type: ${page.contentType}`);
  });

  it.each(['/-/ready', '/readyz'])('%s names the kind of the store and no address', async (path) => {
    const answer = await send(await start(), `GET ${path} HTTP/1.1`);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toEqual({
      status: 'ready',
      store: { kind: 'redis', state: 'up' },
      plan: 'abc',
    });
  });

  it.each(['starting', 'draining'] as const)('is not ready while %s, but healthy', async (state) => {
    const listener = await start({ readiness: () => ({ ...ready, state, revision: undefined }) });
    const answer = await send(listener, 'GET /-/ready HTTP/1.1');
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body)).toMatchObject({ status: state, plan: null });
    for (const path of ['/-/healthy', '/healthz']) {
      expect(await send(listener, `GET ${path} HTTP/1.1`)).toMatchObject({
        status: 200,
        body: '{"status":"healthy"}\n',
      });
    }
  });

  it('lists its pages at /, and each of them exists', async () => {
    const listener = await start();
    const { body } = await send(listener, 'GET / HTTP/1.1');
    const pages = String(JSON.parse(body).message).match(/\/[\w/-]+/g) ?? [];
    expect(pages).toEqual(['/metrics', '/-/healthy', '/-/ready']);
    for (const page of pages) expect((await send(listener, `GET ${page} HTTP/1.1`)).status).toBe(200);
  });

  it('stays ready and healthy while the store is unavailable', async () => {
    const listener = await start({
      readiness: () => ({ ...ready, store: { kind: 'redis', state: 'down' } }),
    });
    expect((await send(listener, 'GET /-/healthy HTTP/1.1')).status).toBe(200);
    const answer = await send(listener, 'GET /-/ready HTTP/1.1');
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ store: { state: 'down' } });
  });

  it('answers HEAD without a body', async () => {
    expect(await send(await start(), 'HEAD /metrics HTTP/1.1')).toMatchObject({ status: 200, body: '' });
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'])(
    'ERR-4: refuses %s on its pages with 405 and Allow',
    async (method) => {
      const body = '{not json';
      const lines = ['Host: localhost', 'Content-Type: application/json', `Content-Length: ${body.length}`];
      const answer = await send(await start(), `${method} /metrics HTTP/1.1`, lines, body);
      expect(answer.status).toBe(405);
      expect(answer.head).toContain('allow: get, head');
      expect(JSON.parse(answer.body)).toMatchObject({ error: 'Method Not Allowed' });
    },
  );

  it.each([
    ['GET / HTTP/1.1', 404, 'Not Found'],
    ['GET /api/v1/orders HTTP/1.1', 404, 'Not Found'],
    ['GET //metrics HTTP/1.1', 404, 'Not Found'],
    ['GET /metrics/ HTTP/1.1', 404, 'Not Found'],
    ['POST /nothing HTTP/1.1', 404, 'Not Found'],
    ['GET http://evil.example/metrics HTTP/1.1', 404, 'Not Found'],
    ['GET /%zz HTTP/1.1', 400, 'Bad Request'],
    ['FROB /metrics HTTP/1.1', 501, 'Not Implemented'],
    ['GET /metrics HTTP/9.9', 505, 'HTTP Version Not Supported'],
    ['GET /metr ics HTTP/1.1', 400, 'Bad Request'],
  ])('ERR-1: answers "%s" with %i in the error shape', async (line, status, error) => {
    const answer = await send(await start(), line);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toEqual({ error, message: expect.any(String) });
  });

  it.each(['evil.example', 'evil.example:9901', 'localhost.evil.example', '127.0.0.1.evil.example', ''])(
    'refuses Host "%s", as a DNS rebinding attack would send it',
    async (host) => {
      const answer = await send(await start(), 'GET /metrics HTTP/1.1', [`Host: ${host}`]);
      expect(answer.status).toBe(421);
      expect(answer.body).not.toContain('sundial_up');
    },
  );

  it('allows no other origin to read its responses', async () => {
    const answer = await send(await start(), 'GET /metrics HTTP/1.1', [
      'Host: localhost',
      'Origin: https://evil.example',
    ]);
    expect(answer.head).not.toContain('access-control');
    expect(answer.head).toContain('cache-control: no-store');
    expect(answer.head).toContain('x-content-type-options: nosniff');
  });

  it('ERR-1: a page that fails is a 500 with a request id, and only the log has the cause', async () => {
    const errors: unknown[] = [];
    const failure = new Error('redis://:canary@10.0.0.1');
    const render = () => Promise.reject(failure);
    const listener = await start({ metrics: { render }, onError: (error) => errors.push(error) });
    const answer = await send(listener, 'GET /metrics HTTP/1.1');
    expect(answer.status).toBe(500);
    expect(JSON.parse(answer.body)).toMatchObject({ requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(answer.body).not.toContain('canary');
    expect(errors).toEqual([failure]);
  });

  it('can be closed during a scrape', async () => {
    const scraped = Promise.withResolvers<void>();
    const listener = await start({
      metrics: {
        render: () => {
          scraped.resolve();
          return new Promise(() => {});
        },
      },
    });
    const cut = send(listener, 'GET /metrics HTTP/1.1').catch(() => 'cut');
    await scraped.promise;
    await listener.close();
    await cut;
    await expect(fetch(`http://127.0.0.1:${listener.address.port}/healthz`)).rejects.toThrow('fetch failed');
  });

  it('fails to start on a port that is in use', async () => {
    const { address } = await start();
    await expect(createAdminListener(options({ address }))).rejects.toThrow('EADDRINUSE');
  });

  it('listens on every interface if no host is configured', async () => {
    const listener = await start({ address: { host: undefined, port: 0 } });
    expect(['::', '0.0.0.0']).toContain(listener.address.host);
    expect((await send(listener, 'GET /healthz HTTP/1.1')).status).toBe(200);
  });
});

describe('the hosts of the admin listener', () => {
  it.each([
    ['localhost', undefined, true],
    ['LOCALHOST:9901', undefined, true],
    ['gateway.localhost', undefined, true],
    ['127.0.0.1:9901', undefined, true],
    ['[::1]:9901', undefined, true],
    ['10.1.2.3', undefined, true],
    ['gateway.internal:9901', 'gateway.internal', true],
    ['gateway.internal', '0.0.0.0', false],
    ['localhost:9901:1', undefined, false],
    ['[::1', undefined, false],
    ['user@localhost', undefined, false],
    [undefined, 'localhost', false],
  ])('include %s when bound to %s: %s', (host, bound, expected) => {
    expect(isOwnHost(host, bound)).toBe(expected);
  });
});
