// Gateway processes in front of one upstream, with many clients for all of them.
import { join } from 'node:path';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { openFaulty } from '../faults/gateway.ts';
import { type Client, overHttp1 } from '../support/http-client.ts';

const CLIENTS = 200;
const CONFIGURATION = join(import.meta.dirname, 'gateway.yaml');

export interface Fixture extends AsyncDisposable {
  /** Connected, equally many at each gateway. */
  readonly clients: readonly Client[];
}

/** One gateway for each store URL. */
export async function openFixture(
  stores: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Fixture> {
  await using stack = new AsyncDisposableStack();
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const opening = stores.map((store) =>
    openFaulty({ ...environment, ECHO: echo.url, ...(store !== '' && { STORE: store }) }, CONFIGURATION),
  );
  const gateways = await Promise.all(opening);
  for (const gateway of gateways) stack.use(gateway);
  const clients = Array.from({ length: CLIENTS }, (_, index) =>
    stack.use(overHttp1(gateways[index % gateways.length]?.https ?? 0)),
  );
  await Promise.all(clients.map((client) => client.ask({ path: '/nowhere' })));
  const moved = stack.move();
  return { clients, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}
