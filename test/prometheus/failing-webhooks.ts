// The webhooks service with an endpoint where nobody listens and one attempt for each delivery: whatever it is told of is
// given up. What test:prometheus scrapes beside the gateway.
import type { Service } from '../../upstreams/service/listen.ts';
import { openSqliteStore } from '../../upstreams/webhooks/sqlite/store.ts';
import { startWebhooks } from '../../upstreams/webhooks/webhooks.ts';

export interface FailingWebhooks extends Pick<Service, 'close'> {
  /** `host:port` where the metrics are. */
  readonly scraped: string;
  /** Of type `order.created`. */
  readonly tellOfAnOrder: () => Promise<void>;
}

/** `dead`: a port of this machine where nobody listens. */
export async function startFailingWebhooks(dead: number): Promise<FailingWebhooks> {
  const service = await startWebhooks({
    port: 0,
    store: openSqliteStore({ file: ':memory:', now: Date.now }),
    sealingKey: Buffer.alloc(32, 1),
    destinations: { allow: [`localhost:${dead}`], deny: [] },
    ca: () => undefined,
    metrics: { port: 0 },
    tuning: { nextDelay: () => undefined },
    log: () => undefined,
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
  await post('/webhooks', { url: `https://localhost:${dead}/`, events: ['order.created'] }, 201);
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
