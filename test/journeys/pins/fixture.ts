// One gateway with dated versions, a clock that tests move, and accounts.
import { startEcho } from '../../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../../support/gateway.ts';
import { type Answer, type Ask, type Client, overHttp1 } from '../../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../../support/issuer.ts';

type Fields = Readonly<Record<string, string>>;

/** Call `open` first. Only `clock` works before it. */
export interface Fixture {
  readonly open: () => Promise<void>;
  readonly close: () => Promise<void>;
  readonly clock: { now: number };
  readonly gateway: () => RunningGateway;
  readonly client: () => Client;
  /** Authorization of an account. Each test that stores a pin uses its own. */
  readonly holding: (id: string, claims?: Readonly<Record<string, unknown>>) => Promise<Fields>;
  /** The same for an account with a creation day. */
  readonly made: (day: string, id?: string) => Promise<Fields>;
  readonly ask: (headers: Fields, more?: Partial<Ask>) => Promise<Answer>;
  /** The version that the service received, else status and reason. */
  readonly versionFor: (headers: Fields, more?: Partial<Ask>) => Promise<unknown>;
  /** Moves a pin through the admin API. Returns the status. */
  readonly upgrade: (api: string, account: string, version: string) => Promise<number>;
}

export const DAY = Date.UTC(2026, 10, 20);

interface Parts {
  readonly gateway: RunningGateway;
  readonly issuer: TestIssuer;
  readonly client: Client;
}

export function createFixture(): Fixture {
  const stack = new AsyncDisposableStack();
  const clock = { now: DAY };
  let parts: Parts | undefined;
  const part =
    <K extends keyof Parts>(name: K) =>
    (): Parts[K] => {
      if (parts === undefined) throw new Error(`${name} is not open`);
      return parts[name];
    };
  const gateway = part('gateway');
  const holding: Fixture['holding'] = async (id, claims = {}) => ({
    authorization: `Bearer ${await part('issuer')().sign({ sub: id, client_id: id, ...claims })}`,
  });
  const ask: Fixture['ask'] = (headers, more = {}) =>
    part('client')().ask({ path: '/api/payments', ...more, headers: { ...headers, ...more.headers } });
  return {
    open: async () => {
      parts = await open(stack, () => clock.now);
    },
    close: () => stack.disposeAsync(),
    clock,
    gateway,
    client: part('client'),
    holding,
    made: (day, id = `made-${day}`) => holding(id, { account_created: day }),
    ask,
    versionFor: async (headers, more) => {
      const answer = await ask(headers, more);
      if (answer.status === 200) return told(answer).join();
      const { refusal } = await gateway().accessLine(answer.headers['x-request-id']);
      return `${answer.status} ${refusal}`;
    },
    upgrade: (api, account, version) => upgrade(gateway(), `/-/pins/${api}/${account}`, version),
  };
}

async function open(stack: AsyncDisposableStack, lifecycleNow: () => number): Promise<Parts> {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const environment = { ECHO: echo.url, ISSUER: issuer.url };
  const gateway = stack.use(await runGateway({ policies: 'pins', lifecycleNow, environment }));
  return { gateway, issuer, client: stack.use(overHttp1(gateway.https)) };
}

async function upgrade(gateway: RunningGateway, path: string, version: string): Promise<number> {
  await using admin = overHttp1(gateway.admin, { tls: false });
  const answer = await admin.ask({
    path,
    method: 'PUT',
    headers: {
      authorization: `Bearer ${await gateway.adminToken()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ version, by: 'ops', why: 'asked for it' }),
  });
  return answer.status;
}

/** Each version that the service received. */
export const told = ({ json }: Answer): readonly unknown[] =>
  (json.headers as [string, string][]).flatMap(([name, value]) =>
    name.toLowerCase() === 'api-version' ? [value] : [],
  );
