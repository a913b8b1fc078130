// A folder of policies with a store of its own, for journeys about what a start makes of files that were refused.
// The lifecycle clock is the real one: only then is the past recorded.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from './gateway.ts';
import { type Answer, overHttp1 } from './http-client.ts';

const ORDERS = join(import.meta.dirname, '../journeys/published-schedules/orders.yaml');

/** A policy file that nothing is wrong with: an API without versions, at /other. */
export const endingApi = (sunset: string): string => `api: other
base: /other
access: public
deprecated: 2021-01-15
sunset: ${sunset}
guide: https://docs.example.com/other
upstreams: { any: { targets: ["\${env:ECHO}"], path: /echo } }
versions: none
`;

export interface PublishedFolder extends AsyncDisposable {
  readonly path: string;
  /** What `orders.yaml` says at first: v1 with a sunset in 2999. */
  readonly orders: string;
  readonly environment: (more?: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
  readonly start: (more?: Readonly<Record<string, string>>) => Promise<RunningGateway>;
  /** Starts a gateway that accepts what stands there, and ends it. */
  readonly publish: (more?: Readonly<Record<string, string>>) => Promise<void>;
  readonly save: (text: string, name?: string) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
}

export async function openPublishedFolder(): Promise<PublishedFolder> {
  const stack = new AsyncDisposableStack();
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const path = await mkdtemp(join(tmpdir(), 'sundial-start-'));
  stack.defer(() => rm(path, { recursive: true, force: true }));
  const orders = await readFile(ORDERS, 'utf8');
  const environment: PublishedFolder['environment'] = (more = {}) => ({
    DATA: join(path, 'data'),
    STORE: `embedded:${join(path, 'data')}`,
    ISSUER: 'http://127.0.0.1:9',
    POLICIES: join(path, '*.yaml'),
    ECHO: echo.url,
    ...more,
  });
  const start: PublishedFolder['start'] = (more) =>
    runGateway({ realClock: true, environment: environment(more) });
  const save: PublishedFolder['save'] = (text, name = 'orders.yaml') => writeFile(join(path, name), text);
  await save(orders);
  return {
    path,
    orders,
    environment,
    start,
    publish: async (more) => {
      await using _gateway = await start(more);
    },
    save,
    remove: (name) => rm(join(path, name)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export async function askPath(
  gateway: RunningGateway,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  await using client = overHttp1(gateway.https);
  return await client.ask({ path, headers });
}

export async function readyOf(gateway: RunningGateway): Promise<Answer> {
  await using client = overHttp1(gateway.admin, { tls: false });
  return await client.ask({ path: '/-/ready' });
}
