// Several tokens on one connection: each request is checked by its own token, also after a reload.
import { connect, type Socket } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { createExchange, type Exchange } from '../../gateway/exchange/exchange.ts';
import { createTokenVerifier } from '../../gateway/identity/authenticators.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import { tokenAuthenticator } from '../../gateway/policy/authentication/token-authenticator.ts';
import { NOW, planOf } from '../plan/workspace.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { quietPorts } from '../support/quiet-ports.ts';
import { forEachTest } from './gateway-pair.ts';
import { read, sessionForEachTest } from './http2-sessions.ts';
import { get, until } from './raw-sockets.ts';

const { defer, pair, upstreamThat } = forEachTest();
const { open } = sessionForEachTest();

const MINUTE = 60_000;
const [PATH, SECONDS] = ['/api/v2/orders', NOW / 1000];

const policyFor = (origin: string, scope: string): string => `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" }, { default: v2 } ]
access: { identity: main, scopes: { read: [${scope}] } }
upstreams: { v2: { targets: [${origin}] } }
versions: { v2: { released: 2026-01-15 } }
`;

interface Situation {
  readonly issuer: TestIssuer;
  readonly exchange: Exchange;
  readonly origin: string;
  /** The authenticated consumer of each request. */
  readonly callers: (string | undefined)[];
  /** Fetches the issuer's keys, as the schedule does. */
  readonly fetchKeys: () => Promise<void>;
  /** Applies another plan, in which reads need `scope`. */
  readonly reload: (scope: string) => Promise<void>;
}

let now: number;

async function prepare(): Promise<Situation> {
  const { origin } = await upstreamThat();
  const issuer = await startTestIssuer({ now: () => now });
  const verifier = createTokenVerifier(issuer.settings, { now: () => now });
  defer(async () => verifier.close(), issuer.close);
  await verifier.warm();
  let plan: GatewayPlan = await planOf(policyFor(origin, 'orders:read'));
  const exchange = createExchange({
    ...quietPorts(
      () => plan,
      () => now,
    ),
    authenticators: new Map([['main', tokenAuthenticator(() => now, verifier)]]),
  });
  const callers: (string | undefined)[] = [];
  return {
    ...{ issuer, origin, callers, fetchKeys: verifier.warm },
    exchange: {
      ...exchange,
      decide: async (view, facts) => {
        const directive = await exchange.decide(view, facts);
        callers.push(facts.decision.consumer?.id);
        return directive;
      },
    },
    reload: async (scope) => {
      plan = await planOf(policyFor(origin, scope));
    },
  };
}

/** The statuses of requests with these lines, in order, on one connection. */
type Ask = (lines: readonly (string | undefined)[]) => Promise<readonly (number | undefined)[]>;

const bytesOf = (line: string | undefined): string =>
  get(PATH, line === undefined ? [] : [`Authorization: ${line}`]);

async function answersOn(socket: Socket, bytes: string, count: number): Promise<readonly number[]> {
  let text = '';
  const take = (chunk: string): void => {
    text += chunk;
  };
  const statuses = (): number[] => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));
  socket.on('data', take);
  socket.write(bytes);
  await until(() => statuses().length === count);
  socket.off('data', take);
  return statuses();
}

async function http1({ exchange, origin }: Situation): Promise<Socket> {
  const { gateway } = await pair(undefined, { exchange, upstream: origin });
  const socket = connect(gateway.port, '127.0.0.1').setEncoding('latin1');
  defer(async () => void socket.destroy());
  return socket;
}

const TRANSPORTS: readonly (readonly [string, (situation: Situation) => Promise<Ask>])[] = [
  [
    'pipelined in HTTP/1.1',
    async (situation) => {
      const socket = await http1(situation);
      return (lines) => answersOn(socket, lines.map(bytesOf).join(''), lines.length);
    },
  ],
  [
    'one after another in HTTP/1.1',
    async (situation) => {
      const socket = await http1(situation);
      return async (lines) => {
        const statuses: number[] = [];
        for (const line of lines) statuses.push(...(await answersOn(socket, bytesOf(line), 1)));
        return statuses;
      };
    },
  ],
  [
    'as streams of HTTP/2',
    async ({ exchange, origin }) => {
      const { session } = await open(undefined, { exchange, upstream: origin });
      const request = async (authorization: string | undefined) => {
        const fields = { ':path': PATH, ':authority': 'api.example.com' };
        const sent = { ...fields, ...(authorization !== undefined && { authorization }) };
        return (await read(session.request(sent).end())).status;
      };
      return async (lines) => {
        const statuses: (number | undefined)[] = [];
        for (const line of lines) statuses.push(await request(line));
        return statuses;
      };
    },
  ],
];

beforeEach(() => {
  now = NOW;
});

describe.each(TRANSPORTS)('on one connection, %s', (_transport, connected) => {
  it('JWT-8: each token is verified on its own, cached or not', async () => {
    const situation = await prepare();
    const { issuer, callers } = situation;
    const ask = await connected(situation);
    const acme = await issuer.sign();
    const other = await issuer.sign({ client_id: 'globex' });
    const expired = await issuer.sign({ iat: SECONDS - 4000, exp: SECONDS - 400 });
    const [header = '', , signature = ''] = acme.split('.');
    const forged = [header, other.split('.')[1], signature].join('.');
    const lines: readonly (readonly [line: string | undefined, status: number, caller?: string])[] = [
      [`Bearer ${acme}`, 200, 'acme'],
      [`Bearer ${other}`, 200, 'globex'],
      [`Bearer ${forged}`, 401],
      [`Bearer ${acme}`, 200, 'acme'],
      [`Bearer ${expired}`, 401],
      [undefined, 401],
      [`bearer  ${acme}`, 200, 'acme'],
      [`Bearer ${acme},Bearer ${acme}`, 400],
      [`Basic ${acme}`, 401],
      [`Bearer ${acme.slice(0, -2)}`, 401],
      [`Bearer ${other}`, 200, 'globex'],
    ];
    for (const round of ['new', 'known', 'known']) {
      callers.length = 0;
      expect([round, await ask(lines.map(([line]) => line))]).toEqual([
        round,
        lines.map(([, status]) => status),
      ]);
      expect(callers).toEqual(lines.map(([, , caller]) => caller));
    }
  });

  it('JWT-1: a token is refused after its exp and before its nbf, cached or not', async () => {
    const situation = await prepare();
    const { issuer } = situation;
    const ask = await connected(situation);
    const short = `Bearer ${await issuer.sign({ exp: SECONDS + 60 })}`;
    const early = `Bearer ${await issuer.sign({ nbf: SECONDS + 60 })}`;
    expect(await ask([short, early, short, early])).toEqual([200, 401, 200, 401]);
    now += MINUTE + 30_000;
    expect(await ask([short, early, short, early])).toEqual([401, 200, 401, 200]);
    now = NOW;
    expect(await ask([early, short])).toEqual([401, 200]);
  });

  it('JWT-4: a cached token is refused once its key is removed from the key set', async () => {
    const situation = await prepare();
    const { issuer, fetchKeys } = situation;
    const ask = await connected(situation);
    const before = `Bearer ${await issuer.sign()}`;
    expect(await ask([before, before])).toEqual([200, 200]);
    await issuer.rotate();
    const after = `Bearer ${await issuer.sign()}`;
    now += MINUTE;
    await fetchKeys();
    expect(await ask([before, after, before, after])).toEqual([401, 200, 401, 200]);
  });

  it('JWT-7: the scopes of a cached token are checked against the plan of each request', async () => {
    const situation = await prepare();
    const { issuer, reload } = situation;
    const ask = await connected(situation);
    const reader = `Bearer ${await issuer.sign({ scope: 'orders:read' })}`;
    const auditor = `Bearer ${await issuer.sign({ client_id: 'globex', scope: 'orders:audit' })}`;
    expect(await ask([reader, auditor, reader])).toEqual([200, 403, 200]);
    await reload('orders:audit');
    expect(await ask([reader, auditor, reader])).toEqual([403, 200, 403]);
    await reload('orders:read');
    expect(await ask([reader, auditor, reader])).toEqual([200, 403, 200]);
  });
});
