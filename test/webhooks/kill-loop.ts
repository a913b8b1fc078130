// Places orders while producer, webhooks service, receiver and Redis are killed, and counts the events.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HOOKS } from '../../upstreams/receiver/receiver.ts';
import { freePorts } from '../support/ports.ts';
import { type RunningRedis, startRedis } from '../support/redis-server.ts';
import { untilTrue } from '../support/until-true.ts';
import { createKilledProcess } from './killed-process.ts';
import { createServiceProcess } from './killed-service.ts';

export const ORDERS = 200;
export const KILLS = ['orders', 'service', 'receiver', 'store', 'orders', 'service'] as const;

export interface KillFigures {
  /** All orders. An order without a response is placed again, as another order. */
  readonly placed: number;
  /** Orders whose event never reached the receiver. */
  readonly lost: number;
  /** Deliveries of an event that was delivered before. */
  readonly twice: number;
  /** Orders with two events of different ids. */
  readonly doubled: number;
  readonly seconds: number;
}

const HERE = import.meta.dirname;
const PRODUCER = join(HERE, '../../upstreams/orders/main.ts');
const CUSTOMER = 'kill-loop';
const PLACERS = 4;
const REDIS_AWAY_MS = 500;
/** The outbox retries events of a killed process after 15 s. */
const ARRIVE_WITHIN_MS = 45_000;
/** Time for late deliveries. */
const LATE_MS = 1_000;
const AGAIN_AFTER_MS = 50;

export async function measureKills(kind: 'SQLite' | 'Redis'): Promise<KillFigures> {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'sundial-kills-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const logFile = join(tmpdir(), `sundial-test-webhooks-kills-${kind}.log`);
  const [servicePort = 0, receiverPort = 0, ordersPort = 0] = await freePorts(3);
  const more = ['--appendonly', 'yes', '--dir', folder];
  let redis: RunningRedis | undefined = kind === 'Redis' ? await startRedis({ more }) : undefined;
  stack.defer(() => redis?.stop());
  const host = `localhost:${receiverPort}`;
  const receiver = createKilledProcess({
    program: [join(HERE, 'receiver-program.ts'), String(receiverPort), folder],
    logFile,
  });
  const service = createServiceProcess({
    port: servicePort,
    folder,
    receiver: host,
    redisUrl: redis?.url,
    logFile,
  });
  const orders = createKilledProcess({
    program: [PRODUCER, 'v2'],
    environment: {
      SUNDIAL_ORDERS_V2_PORT: String(ordersPort),
      SUNDIAL_DATA: folder,
      SUNDIAL_INTAKE: `http://127.0.0.1:${servicePort}/events`,
    },
    logFile,
  });
  const processes = { orders, service, receiver };
  for (const each of Object.values(processes)) {
    stack.defer(each.kill);
    await each.start();
  }
  const subscription = { url: `https://${host}${HOOKS}`, events: ['order.created'] };
  const made = await service.call('/webhooks', { method: 'POST', body: JSON.stringify(subscription) });
  writeFileSync(join(folder, 'secret'), ((await made.json()) as { secret: string }).secret);

  const killed = async (what: (typeof KILLS)[number]): Promise<void> => {
    if (what === 'store' && redis !== undefined) {
      await redis.stop();
      await pause(REDIS_AWAY_MS);
      redis = await startRedis({ port: redis.port, more });
      return;
    }
    // SQLite has no process of its own.
    const each = processes[what === 'store' ? 'service' : what];
    await each.kill();
    await each.start();
  };
  const from = performance.now();
  const url = `http://127.0.0.1:${ordersPort}/orders`;
  const acknowledged: string[] = [];
  const share = Math.ceil(ORDERS / KILLS.length);
  for (const [index, what] of KILLS.entries()) {
    const until = Math.min((index + 1) * share, ORDERS);
    let left = until - acknowledged.length;
    const placing = Promise.all(
      Array.from({ length: PLACERS }, async () => {
        while (left-- > 0) acknowledged.push(await place(url));
      }),
    );
    await untilTrue(() => acknowledged.length >= until - share / 2);
    await killed(what);
    await placing;
  }
  const placed = await ordersAt(url);
  const delivered = () => takenIn(folder);
  // The counts below show what is still missing.
  await untilTrue(() => new Set(delivered().map(([, order]) => order)).size >= placed.length, {
    withinMs: ARRIVE_WITHIN_MS,
    everyMs: 100,
  }).catch(() => undefined);
  const seconds = (performance.now() - from) / 1_000;
  await pause(LATE_MS);

  const events = new Map<string, Set<string>>();
  for (const [event, order] of delivered()) events.set(order, (events.get(order) ?? new Set()).add(event));
  const known = new Set([...placed, ...acknowledged]);
  const ids = new Set(delivered().map(([event]) => event));
  return {
    placed: known.size,
    lost: [...known].filter((order) => !events.has(order)).length,
    twice: delivered().length - ids.size,
    doubled: [...events.values()].filter(({ size }) => size > 1).length,
    seconds,
  };
}

/** Places an order, with retries until it is acknowledged. Returns its id. */
async function place(url: string): Promise<string> {
  const created = Math.floor(Date.now() / 1_000);
  const body = JSON.stringify({ customer: CUSTOMER, amount: 1_250, currency: 'EUR', created });
  const headers = { 'content-type': 'application/json' };
  for (;;) {
    // Any other response, or none, is retried.
    const id = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(5_000) }).then(
      async (answer) => {
        const text = await answer.text();
        return answer.status === 201 ? String((JSON.parse(text) as { id: string }).id) : undefined;
      },
      () => undefined,
    );
    if (id !== undefined) return id;
    await pause(AGAIN_AFTER_MS);
  }
}

async function ordersAt(url: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await fetch(`${url}?customer=${CUSTOMER}&fields=id&limit=100&page=${page}`);
    const { data } = (await answer.json()) as { data: readonly { id: string }[] };
    if (data.length === 0) return found;
    found.push(...data.map(({ id }) => String(id)));
  }
}

/** Event and order of each delivery that the receiver has written down before its acknowledgement. */
function takenIn(folder: string): readonly (readonly [event: string, order: string])[] {
  const lines = readFileSync(join(folder, 'taken'), 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [event = '', order = ''] = line.split(' ');
    return [event, order] as const;
  });
}
