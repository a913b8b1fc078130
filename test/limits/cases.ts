// Cases of test:limits: burst + floor(elapsed / T) requests pass, T = window / rate. Leases admit no more.
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { startRedis } from '../support/redis-server.ts';
import { openFixture } from './fixture.ts';
import { type Tally, tally } from './tally.ts';

export interface Outcome {
  readonly kept: boolean;
  readonly text: string;
}

interface Limit {
  readonly api: string;
  readonly burst: number;
  readonly everyMs: number;
  readonly forMs: number;
  readonly exact: boolean;
}

const YEAR_MS = 365 * 86_400_000;
const STILL = { burst: 500, everyMs: YEAR_MS / 500, forMs: 0 };
const LIMITS: readonly Limit[] = [
  { api: 'still', ...STILL, exact: true },
  { api: 'flowing', burst: 100, everyMs: 100, forMs: 4_000, exact: true },
  { api: 'leased-still', ...STILL, exact: false },
  { api: 'leased-flowing', burst: 500, everyMs: 20, forMs: 3_000, exact: false },
];
const GATEWAYS = 4;
/** For the cuts: number of callers, each with one request, and the interval of broken connections. */
const CALLERS = 2_000;
const CUT_EVERY_MS = 250;
/** Long enough for a reply to pass and to break off. */
const CUT_FOR_MS = 20;
/** After a refusal, before the next caller takes its place. */
const PATIENCE_MS = 100;
const ONE_UNIT_MICROS = (3_600_000 * 1_000) / 5;

function judged(where: string, { api, burst, everyMs, exact }: Limit, counted: Tally): Outcome {
  const [least, most] = counted.elapsed.map((ms) => burst + Math.floor(ms / everyMs));
  const { admitted, limited, others } = counted;
  const inBounds = admitted <= (most ?? 0) && (!exact || admitted >= (least ?? 0));
  const seconds = counted.elapsed.map((ms) => (ms / 1_000).toFixed(3)).join(' to ');
  const formula = `${burst} + floor(${seconds} s / ${everyMs / 1_000} s)`;
  const bounds = exact ? `${least === most ? '' : `${least} to `}${most}` : `at most ${most}`;
  const rest = `${limited} refused${[...others].map(([status, count]) => `, ${count} x ${status}`).join('')}`;
  return {
    kept: inBounds && others.size === 0,
    text: `${where}, ${api}: admitted ${admitted} of ${admitted + limited}; ${formula} = ${bounds}; ${rest}`,
  };
}

/** Four gateways and 200 clients on one Redis. */
export async function* onRedis(): AsyncIterable<Outcome> {
  await using stack = new AsyncDisposableStack();
  const redis = stack.adopt(await startRedis(), ({ stop }) => stop());
  const hand = stack.adopt(new Redis(redis.url), (client) => client.disconnect());
  const fixture = stack.use(
    await openFixture(Array(GATEWAYS).fill(redis.url), { REPLICAS: String(GATEWAYS) }),
  );
  const clock = async (): Promise<number> => {
    const [seconds, micros] = await hand.time();
    return Number(seconds) * 1_000 + Number(micros) / 1_000;
  };
  for (const limit of LIMITS) {
    const counted = await tally(fixture.clients, `/api/${limit.api}`, { forMs: limit.forMs, clock });
    yield judged(`Redis, ${GATEWAYS} gateways, ${fixture.clients.length} clients`, limit, counted);
  }
}

/** One gateway of four workers on the embedded store. */
export async function* onEmbedded(): AsyncIterable<Outcome> {
  await using fixture = await openFixture([''], { WORKERS: '4' });
  for (const limit of LIMITS) {
    const clock = () => performance.now();
    const counted = await tally(fixture.clients, `/api/${limit.api}`, { forMs: limit.forMs, clock });
    yield judged(`embedded, 4 workers, ${fixture.clients.length} clients`, limit, counted);
  }
}

/** Connections to Redis that break during takes: lost takes are not resent. */
export async function* overCuts(): AsyncIterable<Outcome> {
  await using stack = new AsyncDisposableStack();
  const redis = stack.adopt(await startRedis(), ({ stop }) => stop());
  const hand = stack.adopt(new Redis(redis.url), (client) => client.disconnect());
  const lines = [stack.use(await startFaultProxy(redis.port)), stack.use(await startFaultProxy(redis.port))];
  const fixture = stack.use(await openFixture(lines.map(({ port }) => `redis://127.0.0.1:${port}`)));
  let cuts = 0;
  const cutting = setInterval(() => {
    cuts += 1;
    for (const line of lines) {
      line.cutAfter(cuts % 3);
      setTimeout(() => line.cutAfter(undefined), CUT_FOR_MS);
    }
  }, CUT_EVERY_MS);
  stack.defer(() => clearInterval(cutting));
  let [next, admitted, away] = [0, 0, 0];
  await Promise.all(
    fixture.clients.map(async (client) => {
      while (next < CALLERS) {
        const caller = next;
        next += 1;
        const address = `10.0.${caller >> 8}.${caller & 255}`;
        const { status } = await client.ask({ path: '/api/once', headers: { 'x-forwarded-for': address } });
        if (status === 200) admitted += 1;
        else {
          away += 1;
          await pause(PATIENCE_MS);
        }
      }
    }),
  );
  const now = Number((await hand.time())[0]) * 1_000_000;
  const buckets = await hand.keys('sundial:limit:*');
  const levels = buckets.length === 0 ? [] : await hand.mget(buckets);
  const twice = levels.filter((level) => Number(level) - now > ONE_UNIT_MICROS + 1_000_000).length;
  yield {
    kept: twice === 0 && buckets.length >= admitted && away > 0 && admitted > 0,
    text:
      `Redis, connections cut ${cuts} times: ${CALLERS} callers once each, ${admitted} admitted, ${away} answered 503; ` +
      `${buckets.length} counted (${admitted} at least), ${twice} of them twice (0)`,
  };
}
