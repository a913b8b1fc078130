// A counting upstream, two gateways on one Redis, one with its own store, and two killed during requests.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { type RunningGateway, runGateway } from '../../support/gateway.ts';
import { type Answer, type Client, type Fields, overHttp1, overHttp2 } from '../../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../../support/issuer.ts';
import { type RunningRedis, startRedis } from '../../support/redis-server.ts';
import { type CountingOrders, startCountingOrders } from './counting-orders.ts';
import { killAtWork } from './kill-at-work.ts';

export const DAY = Date.UTC(2026, 10, 20);
export const PATIENT = { timeout: 20_000, interval: 5 };

export interface Sent {
  readonly key?: string;
  readonly method?: string;
  readonly headers?: Fields;
  readonly body?: string | Readable;
  /** Name of a client. Default: HTTP/1.1. */
  readonly over?: string;
}

/** Call `open` first. Only `clock` works before it. */
export interface Fixture {
  readonly open: () => Promise<void>;
  readonly close: () => Promise<void>;
  readonly clock: { now: number };
  readonly upstream: () => CountingOrders;
  readonly issuer: () => TestIssuer;
  readonly redis: () => RunningRedis;
  readonly own: () => RunningGateway;
  readonly first: () => RunningGateway;
  /** `HTTP/1.1` and `HTTP/2` lead to the gateway with its own store, `first` and `second` to the others. */
  readonly clientOf: (name: string) => Client;
  readonly bearer: () => string;
  /** Places an order at `path` below the base of v2, or at a whole path. */
  readonly send: (path: string, sent: Sent) => Promise<Answer>;
  /** How often an order was executed. */
  readonly carried: (path: string) => number;
  /** The outcome of the key in the access log. */
  readonly outcome: (answer: Answer, gateway?: RunningGateway) => Promise<unknown>;
}

export function createFixture(): Fixture {
  const stack = new AsyncDisposableStack();
  const clock = { now: DAY };
  const parts: Partial<Parts> = {};
  const part =
    <K extends keyof Parts>(name: K) =>
    (): Parts[K] => {
      const found = parts[name];
      if (found === undefined) throw new Error(`${name} is not open`);
      return found;
    };
  const clientOf = (name: string): Client => {
    const client = part('clients')().get(name);
    if (client === undefined) throw new Error(`no client ${name}`);
    return client;
  };
  return {
    open: async () => void Object.assign(parts, await open(stack, () => clock.now)),
    close: () => stack.disposeAsync(),
    clock,
    upstream: part('upstream'),
    issuer: part('issuer'),
    redis: part('redis'),
    own: part('own'),
    first: part('first'),
    bearer: part('bearer'),
    clientOf,
    send: (path, { key, method = 'POST', headers, body = '{"item":1}', over = 'HTTP/1.1' }) =>
      clientOf(over).ask({
        path: /^\/(?:api|\.well-known)\//.test(path) ? path : `/api/v2/orders${path}`,
        method,
        body,
        headers: {
          authorization: part('bearer')(),
          'content-type': 'application/json',
          ...(key === undefined ? {} : { 'idempotency-key': key }),
          ...headers,
        },
      }),
    carried: (path) => part('upstream')().carried(`/orders${path}`).length,
    outcome: async (answer, gateway = part('own')()) =>
      (await gateway.accessLine(answer.headers['x-request-id'])).idempotency,
  };
}

interface Parts {
  readonly upstream: CountingOrders;
  readonly issuer: TestIssuer;
  readonly redis: RunningRedis;
  readonly own: RunningGateway;
  readonly first: RunningGateway;
  readonly bearer: string;
  readonly clients: ReadonlyMap<string, Client>;
}

async function open(stack: AsyncDisposableStack, lifecycleNow: () => number): Promise<Parts> {
  const upstream = stack.use(await startCountingOrders());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const redis = stack.adopt(await startRedis(), (service) => service.stop());
  const folder = await mkdtemp(join(tmpdir(), 'sundial-keys-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const bearer = `Bearer ${await issuer.sign()}`;
  const environment = { UPSTREAM: upstream.url, ISSUER: issuer.url };
  const embedded = { DATA: folder, STORE: `embedded:${folder}` };
  const shared = { STORE: redis.url };
  await Promise.all([
    killAtWork({ upstream, bearer, environment: { ...environment, ...embedded } }, 'embedded'),
    killAtWork(
      { upstream, bearer, environment: { ...environment, ...shared, DATA: `${folder}/redis` } },
      'redis',
    ),
  ]);
  const run = async (store: Readonly<Record<string, string>>) =>
    stack.use(
      await runGateway({
        policies: 'idempotency',
        lifecycleNow,
        environment: { ...environment, ...store },
      }),
    );
  const own = await run(embedded);
  const first = await run(shared);
  const second = await run(shared);
  const clients = new Map([
    ['HTTP/1.1', stack.use(overHttp1(own.https))],
    ['HTTP/2', stack.use(overHttp2(own.https))],
    ['first', stack.use(overHttp1(first.https))],
    ['second', stack.use(overHttp1(second.https))],
  ]);
  return { upstream, issuer, redis, own, first, bearer, clients };
}
