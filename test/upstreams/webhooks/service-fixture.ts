// The webhooks service with a store in memory. Deliveries fail: the allowed host does not listen.
import { openSqliteStore } from '../../../upstreams/webhooks/sqlite/store.ts';
import type { WebhookStore } from '../../../upstreams/webhooks/store.ts';
import { startWebhooks, type WebhooksService } from '../../../upstreams/webhooks/webhooks.ts';

export const HOOK = 'https://localhost:9/hooks';
export const NEW = { url: HOOK, events: ['payment.completed', 'payment.failed'] };
export const KNOWN = { url: 'https://hooks.example.org/', events: ['order.created'], signature: 'body-only' };

export interface Asked {
  readonly as?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServiceFixture {
  readonly store: WebhookStore;
  readonly service: WebhooksService;
  readonly log: readonly object[];
  readonly ask: (method: string, path: string, asked?: Asked) => Promise<Answered>;
  /** Removes every subscription and creates one. */
  readonly begin: () => Promise<{ readonly id: string; readonly secret: string }>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what a service answers has the shape that a test expects
  readonly json: any;
}

export async function openServiceFixture(): Promise<ServiceFixture> {
  const store = openSqliteStore({ file: ':memory:', now: Date.now });
  const log: object[] = [];
  const service = await startWebhooks({
    port: 0,
    store,
    sealingKey: Buffer.alloc(32, 1),
    destinations: { allow: ['localhost:9'], deny: [] },
    ca: () => undefined,
    log: (line) => log.push(line),
  });
  const ask = async (
    method: string,
    path: string,
    { as = 'acme', body, headers = {} }: Asked = {},
  ): Promise<Answered> => {
    const answer = await fetch(`${service.url}${path}`, {
      method,
      headers: {
        ...(as === '' ? {} : { 'x-consumer-id': as }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      json: text === '' ? undefined : JSON.parse(text),
    };
  };
  const begin = async () => {
    for (const { id } of await store.subscriptions.all()) await store.subscriptions.remove(id);
    return (await ask('POST', '/webhooks', { body: NEW })).json;
  };
  return { store, service, log, ask, begin };
}
