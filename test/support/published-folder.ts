// Policies and a store for starts with refused files. The real clock makes the gateway record schedules.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from './gateway.ts';
import { type Answer, overHttp1 } from './http-client.ts';
import { type RunningRedis, startRedis } from './redis-server.ts';

const ORDERS = readFileSync(join(import.meta.dirname, '../journeys/published-schedules/orders.yaml'), 'utf8');

/** Both stores, with one process and with workers. */
export const STORES = [
  { store: 'the embedded store', workers: '1', redis: false },
  { store: 'the embedded store', workers: '2', redis: false },
  { store: 'Redis', workers: '1', redis: true },
  { store: 'Redis', workers: '2', redis: true },
];

export const plainApi = (api: string, base: string, access = 'public'): string => `api: ${api}
base: ${base}
access: ${access}
versions: none
upstreams: { any: { targets: ["\${env:ECHO}"], path: /echo } }
`;

/** A policy with a sunset, at /other. */
export const endingApi = (sunset: string): string => `api: other
base: /other
access: public
deprecated: 2021-01-15
sunset: ${sunset}
guide: https://docs.example.com/other
upstreams: { any: { targets: ["\${env:ECHO}"], path: /echo } }
versions: none
`;

export interface PublishedFolder {
  readonly path: string;
  /** The first content of `orders.yaml`: v1 with a sunset in 2999. */
  readonly orders: string;
  readonly environment: (more?: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
  readonly start: (more?: Readonly<Record<string, string>>) => Promise<RunningGateway>;
  /** Starts a gateway that accepts the present files, and stops it. */
  readonly publish: (more?: Readonly<Record<string, string>>) => Promise<void>;
  readonly save: (text: string, name?: string) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
  /** The server ends with the test. */
  readonly startRedis: (port?: number) => Promise<RunningRedis>;
  /** Variables of a gateway with a new Redis, or with the embedded store. */
  readonly storeOf: (redis: boolean) => Promise<Readonly<Record<string, string>>>;
}

/** Must be called once, at the top of a test file. Each test gets a new folder. */
export function folderForEachTest(): PublishedFolder {
  let stack = new AsyncDisposableStack();
  let [path, echo] = ['', ''];
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close()).url;
    path = await mkdtemp(join(tmpdir(), 'sundial-start-'));
    stack.defer(() => rm(path, { recursive: true, force: true }));
    await save(ORDERS);
  });
  afterEach(() => stack.disposeAsync());
  const environment: PublishedFolder['environment'] = (more = {}) => ({
    DATA: join(path, 'data'),
    STORE: `embedded:${join(path, 'data')}`,
    ISSUER: 'http://127.0.0.1:9',
    POLICIES: join(path, '*.yaml'),
    ECHO: echo,
    ...more,
  });
  const start: PublishedFolder['start'] = (more) =>
    runGateway({ realClock: true, environment: environment(more) });
  const save: PublishedFolder['save'] = (text, name = 'orders.yaml') => writeFile(join(path, name), text);
  const redisOfOwn = async (port = 0) => stack.adopt(await startRedis({ port }), (server) => server.stop());
  return {
    get path() {
      return path;
    },
    orders: ORDERS,
    environment,
    start,
    publish: async (more) => {
      await using _gateway = await start({ ...more, WORKERS: '1' });
    },
    save,
    remove: (name) => rm(join(path, name)),
    startRedis: redisOfOwn,
    storeOf: async (redis) => (redis ? { STORE: (await redisOfOwn()).url } : {}),
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
