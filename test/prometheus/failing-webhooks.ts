// Webhooks services for test:prometheus, whose endpoints refuse the connection or never respond.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Service } from '../../upstreams/service/listen.ts';
import { openSqliteStore } from '../../upstreams/webhooks/sqlite/store.ts';
import { startWebhooks, type WebhooksOptions } from '../../upstreams/webhooks/webhooks.ts';

export interface FailingWebhooks extends Pick<Service, 'close'> {
  /** `host:port` of the metrics. */
  readonly scraped: string;
  /** Sends an event of type `order.created`. */
  readonly tellOfAnOrder: () => Promise<void>;
}

/** One attempt per delivery, which is then dead. `dead`: a local port at which nothing listens. */
export const startFailingWebhooks = (dead: number): Promise<FailingWebhooks> =>
  startService(dead, { tuning: { nextDelay: () => undefined } });

/** One attempt at a time, to an endpoint that never responds. `wait` lets half an hour pass. */
export async function startLateWebhooks(): Promise<FailingWebhooks & { readonly wait: () => void }> {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  let later = 0;
  const service = await startService(typeof address === 'object' ? (address?.port ?? 0) : 0, {
    tuning: { concurrency: 1, attemptMs: 600_000, leaseMs: 3_600_000, drainMs: 0 },
    now: () => Date.now() + later,
  });
  return {
    ...service,
    wait: () => {
      later = 1_800_000;
    },
    close: async () => {
      await service.close();
      silent.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function startService(
  port: number,
  options: Pick<WebhooksOptions, 'tuning' | 'now'>,
): Promise<FailingWebhooks> {
  const { now = Date.now } = options;
  const service = await startWebhooks({
    port: 0,
    store: openSqliteStore({ file: ':memory:', now }),
    sealingKey: Buffer.alloc(32, 1),
    destinations: { allow: [`localhost:${port}`], deny: [] },
    ca: () => undefined,
    metrics: { port: 0 },
    log: () => undefined,
    ...options,
  });
  const post = async (path: string, body: object, expected: number) => {
    const headers = { 'x-consumer-id': 'acme', 'content-type': 'application/json' };
    const answer = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    await answer.arrayBuffer();
    if (answer.status !== expected) throw new Error(`${path} was answered ${answer.status}, not ${expected}`);
  };
  await post('/webhooks', { url: `https://localhost:${port}/`, events: ['order.created'] }, 201);
  let told = 0;
  return {
    scraped: new URL(service.metricsUrl ?? '').host,
    tellOfAnOrder: () => {
      told += 1;
      const created = Math.floor(Date.now() / 1_000);
      return post('/events', { id: `evt_${told}`, type: 'order.created', created, data: {} }, 202);
    },
    close: service.close,
  };
}
