// Renewed certificates with two workers: the primary reads them, all workers use them, connections stay open.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { authorityGateway } from '../support/authority-gateway.ts';
import type { CertificateFolder } from '../support/certificate-folder.ts';
import type { RunningGateway } from '../support/gateway.ts';
import { fingerprintOf, shake } from '../support/tls-client.ts';
import { forEachWorker, workerPids } from '../support/worker-clients.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let certificates: CertificateFolder;

const shown = () =>
  forEachWorker(async () => {
    const { fingerprint, socket } = await shake(gateway.https, { servername: 'b.example' });
    socket.destroy();
    return fingerprint;
  });

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  ({ gateway, certificates } = stack.use(await authorityGateway({ ECHO: echo.url, WORKERS: '2' })));
});
afterAll(() => stack.disposeAsync());

it('TLS-7: after a reload every worker shows a renewed certificate, and none a broken one', async () => {
  const renewed = fingerprintOf(await certificates.place('b', ['b.example']));
  await gateway.reload();
  expect(await shown()).toEqual([renewed, renewed]);
  await certificates.place('b', ['x.example']);
  await gateway.reload();
  expect(await shown()).toEqual([renewed, renewed]);
  expect(await gateway.metric('sundial_tls_certificates_current')).toBe(0);
});

it('TLS-7: a worker that starts later shows the certificate in force', async () => {
  const renewed = fingerprintOf(await certificates.place('b', ['b.example']));
  await gateway.reload();
  const [first] = workerPids();
  if (first === undefined) throw new Error('there is no worker');
  process.kill(first, 'SIGKILL');
  await vi.waitFor(
    async () => {
      expect(workerPids()).not.toContain(first);
      expect(await gateway.metric('sundial_workers')).toBe(2);
    },
    { timeout: 60_000 },
  );
  expect(await shown()).toEqual([renewed, renewed]);
});
