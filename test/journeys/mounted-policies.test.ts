// Policies as Kubernetes mounts a ConfigMap: moving one link changes all files, and no request sees a mixture.
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';

const POLICY = join(import.meta.dirname, 'admin-isolation/policies/orders.yaml');

/** Writes an edition beside the others and makes it current in one step. */
async function publish(folder: string, edition: string, text: string): Promise<void> {
  await mkdir(join(folder, edition));
  await writeFile(join(folder, edition, 'orders.yaml'), text);
  await symlink(edition, join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));
}

it('a changed ConfigMap takes effect without a restart', async () => {
  await using stack = new AsyncDisposableStack();
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'sundial-mounted-')), (made) =>
    rm(made, { recursive: true }),
  );
  const policy = await readFile(POLICY, 'utf8');
  await publish(folder, '..2026_11_20_1', policy);
  await symlink('..data/orders.yaml', join(folder, 'orders.yaml'));
  const gateway = stack.use(
    await runGateway({
      config: 'admin-isolation/gateway.yaml',
      policies: folder,
      environment: { ECHO: echo.url },
    }),
  );
  const client = stack.use(overHttp1(gateway.https));
  const status = async (path: string) => (await client.ask({ path })).status;
  expect([await status('/api/v1/orders'), await status('/api/v1/invoices')]).toEqual([200, 404]);
  await publish(folder, '..2026_11_20_2', policy.replaceAll('orders', 'invoices'));
  await vi.waitFor(
    async () =>
      expect([await status('/api/v1/orders'), await status('/api/v1/invoices')]).toEqual([404, 200]),
    { timeout: 20_000, interval: 100 },
  );
});
