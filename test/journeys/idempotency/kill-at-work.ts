// Kills gateways with -9 while the upstream executes a request with a key, so that the key stays locked.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { expect, vi } from 'vitest';
import { startProcess } from '../../support/gateway-process.ts';
import { overHttp1 } from '../../support/http-client.ts';
import type { CountingOrders } from './counting-orders.ts';

/** The default `total` timeout of an upstream, and 15 seconds. */
const LONGEST_LOCK_MS = 60_000 + 15_000;
const FILES = {
  config: 'test/journeys/gateway.yaml',
  policies: join(import.meta.dirname, '*.yaml'),
};

interface AtWork {
  readonly upstream: CountingOrders;
  readonly bearer: string;
  readonly environment: Readonly<Record<string, string>> & { readonly DATA: string; readonly STORE: string };
}

/** Leaves two locked keys: `/lapsed-<store>`, whose lock is aged until it expires, and `/locked-<store>`. */
export async function killAtWork(
  { upstream, bearer, environment }: AtWork,
  store: 'embedded' | 'redis',
): Promise<void> {
  await using gateway = startProcess(['run', '-c', FILES.config, '--at', '2026-11-20'], {
    ...environment,
    POLICIES: FILES.policies,
  });
  await using client = overHttp1((await gateway.ready).https);
  const begin = async (name: string): Promise<void> => {
    const url = `/orders/${name}-${store}`;
    upstream.answerWith(url, (response, _carried, count) => {
      if (count > 1) response.writeHead(201).end('second');
    });
    const headers = { authorization: bearer, 'content-type': 'application/json', 'idempotency-key': 'k' };
    client.begin({ path: `/api/v2${url}`, method: 'POST', headers, body: '{"item":1}' });
    await vi.waitFor(() => expect(upstream.carried(url)).toHaveLength(1), { timeout: 20_000, interval: 5 });
  };
  await using redis = store === 'redis' ? await handOn(environment.STORE) : undefined;
  await begin('lapsed');
  const [lapsed = ''] = (await redis?.keys()) ?? [];
  await begin('locked');
  gateway.kill('SIGKILL');
  await gateway.ended;
  if (redis === undefined) ageFirst(join(environment.DATA, 'sundial.db'));
  else await redis.age(lapsed);
}

/** No process has the file open. */
function ageFirst(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(
    `UPDATE idempotency SET until = until - ${LONGEST_LOCK_MS} WHERE rowid = (SELECT min(rowid) FROM idempotency)`,
  );
  database.close();
}

async function handOn(url: string) {
  const hand = new Redis(url);
  return {
    keys: () => hand.keys('sundial:idempotency:*'),
    // PEXPIRE with a time in the past deletes the key.
    age: async (key: string) => hand.pexpire(key, (await hand.pttl(key)) - LONGEST_LOCK_MS),
    [Symbol.asyncDispose]: async () => hand.disconnect(),
  };
}
