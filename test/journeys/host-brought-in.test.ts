// A reload adds a host: the gateway makes a certificate for it, and earlier connections do not serve it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { runGateway } from '../support/gateway.ts';
import { overHttp2 } from '../support/http-client.ts';
import { askNamed } from '../support/named-client.ts';
import { shake } from '../support/tls-client.ts';

const policy = (hosts: string) => `api: orders
host: [${hosts}]
base: /api/orders
access: public
upstreams: { echo: { targets: ["\${env:ECHO}"], path: /echo } }
versions: none
`;

it('TLS-4, TLS-7: a reload with a new host makes a certificate; old connections get 421', async () => {
  await using stack = new AsyncDisposableStack();
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const policies = stack.adopt(await mkdtemp(join(tmpdir(), 'sundial-hosts-')), (folder) =>
    rm(folder, { recursive: true }),
  );
  await writeFile(join(policies, 'orders.yaml'), policy('127.0.0.1'));
  const gateway = stack.use(await runGateway({ policies, environment: { ECHO: echo.url } }));
  const before = stack.use(overHttp2(gateway.https));
  const path = '/api/orders/7';
  const named = { servername: 'new.example', host: 'new.example', path };
  expect((await before.ask({ path })).status).toBe(200);
  expect((await shake(gateway.https, { servername: 'new.example' })).error).toBe(
    'ERR_SSL_TLSV1_UNRECOGNIZED_NAME',
  );

  await writeFile(join(policies, 'orders.yaml'), policy('127.0.0.1, new.example'));
  await gateway.reload();
  await vi.waitFor(async () => expect((await askNamed(gateway.https, 'HTTP/2', named)).status).toBe(200), {
    timeout: 20_000,
  });
  expect((await askNamed(gateway.https, 'HTTP/1.1', named)).status).toBe(200);
  // Its certificate is older than the host.
  const coalesced = await before.ask({ path, headers: { host: 'new.example' } });
  expect(coalesced.status).toBe(421);
  expect(await gateway.accessLine(coalesced.headers['x-request-id'])).toMatchObject({
    refusal: 'misdirected',
  });
  expect((await before.ask({ path })).status).toBe(200);
});
