// One gateway before a WebSocket upstream, a clock that tests move, and clients that close after each test.
import { expect } from 'vitest';
import { type RunningGateway, runGateway } from '../../support/gateway.ts';
import { type Client, overHttp1 } from '../../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../../support/issuer.ts';
import { freePorts } from '../../support/ports.ts';
import { type Opening, openWebSocket, type WebSocketClient } from '../../support/websocket-client.ts';
import { TEXT } from '../../support/websocket-frames.ts';
import { startWebSocketUpstream, type WebSocketUpstream } from '../../support/websocket-upstream.ts';

export const at = (text: string): number => Temporal.Instant.from(text).epochMilliseconds;
const TODAY = at('2026-11-20T00:00:00Z');

interface Parts {
  readonly upstream: WebSocketUpstream;
  readonly issuer: TestIssuer;
  readonly environment: Readonly<Record<string, string>>;
  readonly gateway: RunningGateway;
  readonly client: Client;
  readonly tokens: ReadonlyMap<string, string>;
}

/** Call `start` first. Only `clock` works before it. */
export interface Fixture {
  readonly start: () => Promise<void>;
  /** After each test: closes all connections and resets the clock. */
  readonly tidy: () => void;
  readonly close: () => Promise<void>;
  readonly clock: { now: number };
  readonly upstream: () => WebSocketUpstream;
  readonly issuer: () => TestIssuer;
  readonly environment: () => Readonly<Record<string, string>>;
  readonly gateway: () => RunningGateway;
  readonly client: () => Client;
  /** The Authorization line with the token of `acme` or `other`. */
  readonly authorization: (id: string) => string;
  /** `on`: another gateway than `gateway`. */
  readonly open: (path: string, opening?: Opening, on?: RunningGateway) => Promise<WebSocketClient>;
}

export function createFixture(): Fixture {
  const stack = new AsyncDisposableStack();
  const clock = { now: TODAY };
  let clients: WebSocketClient[] = [];
  let parts: Parts | undefined;
  const part =
    <K extends keyof Parts>(name: K) =>
    (): Parts[K] => {
      if (parts === undefined) throw new Error(`${name} is not there`);
      return parts[name];
    };
  return {
    start: async () => {
      parts = await start(stack, () => clock.now);
    },
    tidy: () => {
      for (const each of clients) each.socket.destroy();
      clients = [];
      clock.now = TODAY;
    },
    close: () => stack.disposeAsync(),
    clock,
    upstream: part('upstream'),
    issuer: part('issuer'),
    environment: part('environment'),
    gateway: part('gateway'),
    client: part('client'),
    authorization: (id) => part('tokens')().get(id) ?? '',
    open: async (path, opening = {}, on = part('gateway')()) => {
      const made = await openWebSocket(on.https, path, opening);
      clients.push(made);
      return made;
    },
  };
}

async function start(stack: AsyncDisposableStack, lifecycleNow: () => number): Promise<Parts> {
  const upstream = stack.use(await startWebSocketUpstream());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const [dead] = await freePorts(1);
  const environment = { UPSTREAM: upstream.url, ISSUER: issuer.url, DEAD: `http://127.0.0.1:${dead}` };
  const gateway = stack.use(await runGateway({ policies: 'websocket', lifecycleNow, environment }));
  const client = stack.use(overHttp1(gateway.https));
  const tokens = new Map<string, string>();
  for (const id of ['acme', 'other'])
    tokens.set(id, `Authorization: Bearer ${await issuer.sign({ client_id: id, scope: 'orders:read' })}`);
  return { upstream, issuer, environment, gateway, client, tokens };
}

export async function echoes(each: WebSocketClient): Promise<void> {
  const before = each.frames.length;
  each.send('hello');
  const frames = await each.received(before + 1);
  expect(frames[before]).toMatchObject({ opcode: TEXT });
}
