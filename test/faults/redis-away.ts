// Calls without a counter stay fast while Redis fails. Afterwards, limits are exact again.
import { join } from 'node:path';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';
import {
  type FaultyRedis,
  REDIS_FAULTS,
  type RedisFault,
  startFaultyRedis,
} from '../support/redis-faults.ts';
import { becomes, openFaulty } from './gateway.ts';
import { exactly, type Figure, p99Of, type Row, within } from './row.ts';

const ASKED = 300;
const REFUSED = 20;
/** From the policies: 5 an hour per caller. */
const LIMIT = 5;
const AT_ONCE = 4 * LIMIT;
const SECOND = 1_000;

interface Fixture extends AsyncDisposable {
  readonly redis: FaultyRedis;
  readonly client: Client;
  /** Calls an API once more as that caller. */
  readonly ask: (api: string, caller: string) => ReturnType<Client['ask']>;
}

async function openFixture(): Promise<Fixture> {
  await using stack = new AsyncDisposableStack();
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const redis = stack.use(await startFaultyRedis());
  const POLICIES = join(import.meta.dirname, '../journeys/store-faults/*.yaml');
  const fixture = stack.use(
    await openFaulty({ POLICIES, ECHO: echo.url, ISSUER: issuer.url, STORE: redis.url }),
  );
  const client = stack.use(overHttp1(fixture.https));
  const tokens = new Map<string, string>();
  const ask = async (api: string, caller: string) => {
    const token = tokens.get(caller) ?? (await issuer.sign({ sub: caller, client_id: caller }));
    tokens.set(caller, token);
    return client.ask({ path: `/api/${api}`, headers: { authorization: `Bearer ${token}` } });
  };
  // Code that has not run yet is slow. So are new connections: the proxy of Redis is in this process, and its
  // replies stay unread during TLS handshakes until Redis counts as away.
  for (let call = 0; call < ASKED; call += 1) await ask('allow', 'warm');
  await Promise.all(Array.from({ length: AT_ONCE }, () => ask('allow', 'warm')));
  const moved = stack.move();
  return { redis, client, ask, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

async function timed(count: number, ask: () => ReturnType<Client['ask']>) {
  const took: number[] = [];
  let served = 0;
  for (let call = 0; call < count; call += 1) {
    const from = performance.now();
    if ((await ask()).status === 200) served += 1;
    took.push(performance.now() - from);
  }
  return { p99: p99Of(took), served };
}

let rounds = 0;

async function measure({ befall, lift }: RedisFault): Promise<readonly Figure[]> {
  await using fixture = await openFixture();
  const { redis, ask } = fixture;
  rounds += 1;
  const name = (what: string) => `${what} ${rounds}`;
  const base = await timed(ASKED, () => ask('allow', name('usual')));

  await befall(redis);
  const open = await timed(ASKED, () => ask('allow', name('meanwhile')));
  let refused = 0;
  for (let call = 0; call < REFUSED; call += 1) {
    const { status, headers } = await ask('refuse', name('refused'));
    if (status === 503 && /^[1-9]\d*$/.test(headers['retry-after'] ?? '')) refused += 1;
  }
  await lift(redis);

  const liftedAt = performance.now();
  let fresh = 0;
  const isExact = async (): Promise<boolean> => {
    fresh += 1;
    const { status, headers } = await ask('local', name(`again ${fresh}`));
    return status === 200 && headers['x-ratelimit-remaining'] === String(LIMIT - 1);
  };
  await becomes(isExact, { withinMs: 10 * SECOND });
  const exactMs = performance.now() - liftedAt;
  await ask('allow', name('exact'));
  const counted = await Promise.all(Array.from({ length: AT_ONCE }, () => ask('refuse', name('exact'))));
  const admitted = counted.filter(({ status }) => status === 200).length;
  return [
    exactly(`served of ${ASKED}`, open.served, ASKED),
    within('p99', open.p99, base.p99 + 50, `${base.p99.toFixed(1)} + 50`),
    exactly(`503 with Retry-After of ${REFUSED}`, refused, REFUSED),
    within('exact again after', exactMs, 2 * SECOND),
    // If Redis answers too late for a request, the request is refused although it was counted.
    exactly(`admitted of ${counted.length}`, admitted, LIMIT, true),
  ];
}

/** Two faults that the journey does not have: Redis is away for a moment only, or again and again. */
const FAULTS: readonly RedisFault[] = [
  ...REDIS_FAULTS,
  {
    what: 'disconnected before it replies',
    befall: ({ line }) => line.cutAfter(0),
    lift: ({ line }) => line.cutAfter(undefined),
    told: 'away',
  },
  {
    what: 'restarted, and empty',
    befall: async ({ kill, comeBack, freeze }) => {
      await kill();
      await comeBack();
      freeze();
    },
    lift: ({ thaw }) => thaw(),
    told: 'away',
  },
];

export const redisAway: readonly Row[] = FAULTS.map((fault) => ({
  what: `Redis ${fault.what}`,
  measure: () => measure(fault),
}));
