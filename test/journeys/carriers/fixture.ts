// One gateway with every carrier, its clients, and what its upstreams received.
import { expect } from 'vitest';
import { startEcho } from '../../../upstreams/echo/echo.ts';
import type { Received } from '../../../upstreams/echo/received.ts';
import { type RunningGateway, runGateway } from '../../support/gateway.ts';
import { type Answer, type Ask, type Client, overHttp1, overHttp2 } from '../../support/http-client.ts';
import { type RawUpstream, startRawUpstream } from '../../support/raw-upstream.ts';
import { PLACES } from './asks.ts';

interface Parts {
  readonly gateway: RunningGateway;
  readonly upstream: RawUpstream;
  readonly clients: ReadonlyMap<string, Client>;
}

/** Call `open` first. */
export interface Fixture {
  readonly open: () => Promise<void>;
  readonly close: () => Promise<void>;
  readonly gateway: () => RunningGateway;
  /** The upstream of the APIs that have hosts. */
  readonly upstream: () => RawUpstream;
  readonly ask: (request: Ask, protocol?: string) => Promise<Answer>;
}

export function createFixture(): Fixture {
  const stack = new AsyncDisposableStack();
  let parts: Parts | undefined;
  const opened = (): Parts => {
    if (parts === undefined) throw new Error('the fixture is not open');
    return parts;
  };
  return {
    open: async () => {
      parts = await open(stack);
    },
    close: () => stack.disposeAsync(),
    gateway: () => opened().gateway,
    upstream: () => opened().upstream,
    ask: (request, protocol = 'HTTP/1.1') =>
      opened().clients.get(protocol)?.ask(request) ?? Promise.reject(new Error(protocol)),
  };
}

async function open(stack: AsyncDisposableStack): Promise<Parts> {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const upstream = stack.use(
    await startRawUpstream(
      (_target, socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
    ),
  );
  const gateway = stack.use(
    await runGateway({ policies: 'carriers', environment: { ECHO: echo.url, BYTES: upstream.url } }),
  );
  const clients = new Map([
    ['HTTP/1.1', stack.use(overHttp1(gateway.https))],
    ['HTTP/2', stack.use(overHttp2(gateway.https))],
  ]);
  return { gateway, upstream, clients };
}

export const seenBy = ({ json }: Answer): Received => json as unknown as Received;

export const valuesOf = ({ headers }: Received, name: string) =>
  headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);

/** VER-9: one path, one version, and nothing that could name another. */
export function expectOneVersion(answer: Answer, label: string): void {
  expect(answer.status).toBe(200);
  const seen = seenBy(answer);
  expect(seen.target).toBe('/echo/7?x=1');
  expect(valuesOf(seen, 'api-version')).toEqual([label]);
  for (const name of ['accept', 'content-type'])
    for (const value of valuesOf(seen, name)) expect(value).not.toMatch(/vnd|version/);
}

export const pairs = PLACES.flatMap((one, index) =>
  PLACES.slice(index + 1).map((other) => [one, other] as const),
);
