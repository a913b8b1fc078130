// One gateway whose clock each request sets, and pauses that end with their test.
import { startEcho } from '../../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../../support/gateway.ts';
import { type Answer, type Ask, type Client, overHttp1 } from '../../support/http-client.ts';
import { startTestIssuer } from '../../support/issuer.ts';
import { beginPause, endPause, type PauseOf } from '../../support/pauses.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const at = (text: string) => Temporal.Instant.from(text).epochMilliseconds;
export const TODAY = at('2026-11-20T00:00:00Z');
export const WEEK_LATER = TODAY + 7 * DAY;
export const ORDERS = '/.well-known/lifecycle/orders';

interface Parts {
  readonly environment: Readonly<Record<string, string>>;
  readonly gateway: RunningGateway;
  readonly client: Client;
  readonly tokens: ReadonlyMap<string, string>;
}

/** Call `open` first. Only `clock` works before it. */
export interface Fixture {
  readonly open: () => Promise<void>;
  /** After each test. */
  readonly endAll: () => Promise<void>;
  readonly close: () => Promise<void>;
  readonly clock: { now: number };
  readonly environment: () => Readonly<Record<string, string>>;
  readonly gateway: () => RunningGateway;
  /** Of `acme` or `other`. */
  readonly authorization: (as: string) => string;
  readonly begin: (instant: number, pause: PauseOf) => Promise<string>;
  readonly end: (id: string) => Promise<void>;
  readonly askAt: (instant: number, path: string, ask?: Partial<Ask>, as?: string) => Promise<Answer>;
  readonly statusesAt: (path: string, instants: readonly number[]) => Promise<readonly number[]>;
}

export function createFixture(): Fixture {
  const stack = new AsyncDisposableStack();
  const clock = { now: TODAY };
  /** The instant at which each began, before which it cannot be ended. */
  const running = new Map<string, number>();
  let parts: Parts | undefined;
  const part =
    <K extends keyof Parts>(name: K) =>
    (): Parts[K] => {
      if (parts === undefined) throw new Error(`${name} is not open`);
      return parts[name];
    };
  const gateway = part('gateway');
  const authorization = (as: string): string => part('tokens')().get(as) ?? '';
  const end = async (id: string): Promise<void> => {
    running.delete(id);
    await endPause(gateway(), id);
  };
  const askAt: Fixture['askAt'] = (instant, path, { headers, ...ask } = {}, as = 'other') => {
    clock.now = instant;
    return part('client')().ask({ path, headers: { authorization: authorization(as), ...headers }, ...ask });
  };
  return {
    open: async () => {
      parts = await open(stack, () => clock.now);
    },
    endAll: async () => {
      for (const [id, begun] of running) {
        clock.now = begun;
        await end(id);
      }
    },
    close: () => stack.disposeAsync(),
    clock,
    environment: part('environment'),
    gateway,
    authorization,
    begin: async (instant, pause) => {
      clock.now = instant;
      const id = await beginPause(gateway(), pause);
      running.set(id, instant);
      return id;
    },
    end,
    askAt,
    statusesAt: async (path, instants) => {
      const statuses: number[] = [];
      for (const instant of instants) statuses.push((await askAt(instant, path)).status);
      return statuses;
    },
  };
}

async function open(stack: AsyncDisposableStack, lifecycleNow: () => number): Promise<Parts> {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const environment = { ECHO: echo.url, ISSUER: issuer.url };
  const gateway = stack.use(await runGateway({ policies: 'pause', lifecycleNow, environment }));
  const client = stack.use(overHttp1(gateway.https));
  const tokens = new Map<string, string>();
  for (const id of ['acme', 'other'])
    tokens.set(id, `Bearer ${await issuer.sign({ client_id: id, scope: 'orders:read orders:write' })}`);
  return { environment, gateway, client, tokens };
}
