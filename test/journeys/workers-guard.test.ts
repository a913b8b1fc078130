// The guard with two workers, in its own file: gateways on port 0 in one process would share a listen handle.
import { expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { runGateway } from '../support/gateway.ts';
import { clientPerWorker } from '../support/worker-clients.ts';

it('the guard counts an address once for all workers, and admits exactly its limit', async () => {
  await using stack = new AsyncDisposableStack();
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const gateway = stack.use(
    await runGateway({
      policies: 'workers',
      environment: { ECHO: echo.url, WORKERS: '2', GUARD: '32/1h' },
    }),
  );
  const clients = await clientPerWorker(gateway.https, '/nowhere');
  for (const client of clients) stack.use(client);
  const path = '/api/v1/open';
  const answers = await Promise.all(
    clients.flatMap((client) => Array.from({ length: 90 }, () => client.ask({ path }))),
  );
  const passed = answers.filter(({ status }) => status === 200);
  expect(passed).toHaveLength(30);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(150);
});
