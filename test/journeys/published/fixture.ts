// A gateway that publishes the policies of this folder, and a client that sends requests at any instant.
import { startEcho } from '../../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../../support/gateway.ts';
import { type Answer, type Fields, overHttp1 } from '../../support/http-client.ts';

export const ORDERS = '/.well-known/lifecycle/orders';
export const SUNSET = Date.UTC(2027, 3, 15);
export const ORIGIN = 'https://127.0.0.1';
const DAY = Date.UTC(2026, 10, 20);

export interface PublishedFixture extends AsyncDisposable {
  readonly gateway: RunningGateway;
  /** `at`: the lifecycle instant from then on. Default: 2026-11-20. */
  readonly ask: (path: string, headers?: Fields, method?: string, at?: number) => Promise<Answer>;
}

export async function openPublished(): Promise<PublishedFixture> {
  const stack = new AsyncDisposableStack();
  let now = DAY;
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const environment = { ECHO: echo.url };
  const gateway = stack.use(
    await runGateway({ policies: 'published', lifecycleNow: () => now, environment }),
  );
  const client = stack.use(overHttp1(gateway.https));
  return {
    gateway,
    ask: (path, headers = {}, method = 'GET', at = DAY) => {
      now = at;
      return client.ask({ path, method, headers });
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
