// Tests of DNS rebinding: every sample service answers only to its own host names, in any spelling.
import { mkdtemp, rm } from 'node:fs/promises';
import { request as askHttp } from 'node:http';
import { request as askHttps } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCatalog } from '../../upstreams/catalog/catalog.ts';
import { startClient } from '../../upstreams/client/server.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { startOrdersV1 } from '../../upstreams/orders/v1.ts';
import { startOrdersV2 } from '../../upstreams/orders/v2.ts';
import { startPayments } from '../../upstreams/payments/payments.ts';
import { loadPair } from '../../upstreams/receiver/certificate.ts';
import { openReceived } from '../../upstreams/receiver/received.ts';
import { startReceiver } from '../../upstreams/receiver/receiver.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { openIssuer } from './identity/own-issuer.ts';
import { NEW, openServiceFixture, type ServiceFixture } from './webhooks/service-fixture.ts';

const stack = new AsyncDisposableStack();
const services = new Map<string, Service>();
let webhooks: ServiceFixture;

beforeAll(async () => {
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'sundial-hosts-')), (made) =>
    rm(made, { recursive: true }),
  );
  const serve = async (name: string, starting: Promise<Service>) =>
    services.set(
      name,
      stack.adopt(await starting, (service) => service.close()),
    );
  const port = 0;
  await serve('orders v1', startOrdersV1({ port }));
  await serve('orders v2', startOrdersV2({ port }));
  await serve('payments', startPayments({ port }));
  await serve('catalog', startCatalog({ port }));
  await serve('echo', startEcho({ port }));
  await serve(
    'client',
    startClient({ port, issuer: 'https://127.0.0.1:8443/auth', trusted: join(folder, 'none') }),
  );
  const received = stack.use(openReceived(join(folder, 'receiver.db')));
  const pair = await loadPair(folder, Date.now());
  await serve('receiver', startReceiver({ port, pair, secrets: () => [], received, now: Date.now }));
  services.set('identity', stack.use(await openIssuer()).issuer);
  webhooks = await openServiceFixture();
  stack.defer(() => webhooks.service.close());
  services.set('webhooks', webhooks.service);
});
afterAll(() => stack.disposeAsync());

const PATHS: Readonly<Record<string, string>> = {
  'orders v1': '/orders',
  'orders v2': '/orders',
  payments: '/payments',
  catalog: '/catalog',
  echo: '/echo',
  client: '/',
  receiver: '/received',
  identity: '/auth/.well-known/oauth-authorization-server',
  webhooks: '/webhooks',
};
const FOREIGN = [
  'rebound.example',
  'rebound.example:4006',
  '127.0.0.1.rebound.example',
  'localhost.rebound.example',
  'rebound.localhost.example:80',
  'evillocalhost',
  '127.0.0.1@rebound.example',
  'rebound.example#localhost',
  'localhost,rebound.example',
  '[::1].rebound.example',
];

interface Asked {
  readonly method?: string;
  readonly host: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function ask(service: Service, path: string, { method = 'GET', host, headers = {}, body }: Asked) {
  const isTls = service.url.startsWith('https:');
  const options = { host: '127.0.0.1', port: service.port, path, method, headers: { host, ...headers } };
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; text: string }>();
  const request = (isTls ? askHttps : askHttp)({ ...options, rejectUnauthorized: false }, (answer) => {
    text(answer).then((read) => resolve({ status: answer.statusCode, text: read }), reject);
  });
  request.on('error', reject).end(body);
  return promise;
}

describe.each(Object.keys(PATHS))('%s', (name) => {
  const of = (): Service => services.get(name) ?? expect.fail(name);

  it('responds with 421 to a foreign Host, at any path', async () => {
    for (const path of [PATHS[name] ?? '', '/healthz', '/', '/admin/overview', '/metrics', '/events'])
      for (const host of FOREIGN)
        for (const method of ['GET', 'POST'])
          expect({ host, path, ...(await ask(of(), path, { host, method })) }).toMatchObject({ status: 421 });
  });

  it('accepts the addresses and names of this machine as Host', async () => {
    const { port } = of();
    for (const host of [
      `127.0.0.1:${port}`,
      'localhost',
      `LOCALHOST:${port}`,
      `[::1]:${port}`,
      'a.localhost',
    ])
      expect((await ask(of(), PATHS[name] ?? '', { host })).status).not.toBe(421);
  });
});

it('a request without a Host or with two is refused', async () => {
  const { port } = webhooks.service;
  for (const head of [
    'GET /readyz HTTP/1.0\r\n',
    'GET /readyz HTTP/1.1\r\nHost: localhost\r\nHost: rebound.example\r\n',
  ]) {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.end(`${head}Connection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 (?:400|421) /);
  }
});

describe('the API of webhooks', () => {
  const subscribe = (host: string, headers: Readonly<Record<string, string>> = {}) =>
    ask(webhooks.service, '/webhooks', {
      ...{ method: 'POST', host, body: JSON.stringify(NEW) },
      headers: { 'content-type': 'application/json', 'x-consumer-id': 'acme', ...headers },
    });
  const made = async () => (await webhooks.store.subscriptions.all()).length;

  it('refuses web pages, by foreign Host or by Origin, and returns no secret', async () => {
    const before = await made();
    for (const host of FOREIGN) expect(await subscribe(host)).toMatchObject({ status: 421 });
    const own = `127.0.0.1:${webhooks.service.port}`;
    for (const origin of [
      'https://evil.example',
      `http://rebound.example:${webhooks.service.port}`,
      'null',
      `http://${own}`,
    ]) {
      const answer = await subscribe(own, { origin });
      expect(answer.status).toBe(403);
      expect(answer.text).not.toContain('whsec');
    }
    expect(await made()).toBe(before);
  });

  it('accepts requests like those of the gateway', async () => {
    const answer = await subscribe(`127.0.0.1:${webhooks.service.port}`);
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.text).secret).toMatch(/^whsec_/);
  });
});
