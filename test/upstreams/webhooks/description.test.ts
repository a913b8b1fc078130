// Tests of the OpenAPI description of webhooks: it is valid, and the service returns every status in it.
import { afterAll, beforeAll, it } from 'vitest';
import type { Service } from '../../../upstreams/service/listen.ts';
import { abandoned } from '../../../upstreams/webhooks/delivery.ts';
import { openSqliteStore } from '../../../upstreams/webhooks/sqlite/store.ts';
import type { WebhookStore } from '../../../upstreams/webhooks/store.ts';
import { startWebhooks } from '../../../upstreams/webhooks/webhooks.ts';
import { describedBy } from '../../support/described-service.ts';

const { isOpenApi, judge, sawAll } = describedBy('upstreams/webhooks/v1.openapi.yaml');
const WRITTEN = { url: 'https://localhost:9/hooks', events: ['payment.completed'] };
const HUGE = `{"x":"${'x'.repeat(1024 * 1024)}"}`;
const PLAIN = { body: 'x', headers: { 'content-type': 'text/plain' } };
const HTML = { headers: { accept: 'text/html' } };
const OTHER_STATE = { headers: { 'if-match': '"other"' } };
const ACTIONS = ['rotate-secret', 'test', 'enable', 'replay'];
/** Conflicts of idempotency keys come from the gateway; these operations return 409 themselves. */
const OWN_CONFLICTS = ['post /webhooks', 'post /webhooks/{id}/replay'];

let store: WebhookStore;
let service: Service;
beforeAll(async () => {
  store = openSqliteStore({ file: ':memory:', now: Date.now });
  service = await startWebhooks({
    port: 0,
    store,
    sealingKey: Buffer.alloc(32, 1),
    destinations: { allow: ['localhost:9'], deny: [] },
    ca: () => undefined,
    log: () => undefined,
  });
});
afterAll(() => service.close());

interface Asked {
  readonly id?: string;
  readonly delivery?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

async function ask(template: string, method: string, expected: number, asked: Asked = {}) {
  const { id = 'wh_9', delivery = 'dlv_9', query = '', headers = {}, body } = asked;
  const path = template.replace('{id}', id).replace('{delivery}', delivery);
  const answer = await fetch(service.url + path + query, {
    method: method.toUpperCase(),
    headers: {
      'x-consumer-id': 'acme',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.clone().text();
  await judge(template, method, expected, answer);
  const json = text === '' ? undefined : (JSON.parse(text) as { readonly id?: unknown });
  return { json, etag: answer.headers.get('etag') ?? '' };
}

/** The responses common to all reads. */
async function read(template: string, asked: Asked, isKept = true) {
  const { etag } = await ask(template, 'get', 200, asked);
  if (isKept) await ask(template, 'get', 304, { ...asked, headers: { 'if-none-match': etag } });
  await ask(template, 'get', 400, { ...asked, query: '?colour=red' });
  await ask(template, 'get', 406, { ...asked, ...HTML });
  if (asked.id !== undefined) await ask(template, 'get', 404);
}

async function refuse(template: string, method: string, asked: Asked) {
  await ask(template, method, 400, { ...asked, body: '[]' });
  await ask(template, method, 406, { ...asked, ...HTML });
  await ask(template, method, 413, { ...asked, body: HUGE });
  await ask(template, method, 415, { ...asked, ...PLAIN });
  if (asked.id !== undefined) await ask(template, method, 404, { body: {} });
}

it('is valid OpenAPI', isOpenApi);

it('OAS-1, OAS-3: describes the responses of every operation', async () => {
  const all = '/webhooks';
  const one = '/webhooks/{id}';
  const { json: made } = await ask(all, 'post', 201, { body: WRITTEN });
  const asked = { id: String(made?.id) };
  await refuse(all, 'post', {});
  await read(all, {});
  await read(one, asked);
  for (const method of ['put', 'patch']) {
    await ask(one, method, 200, { ...asked, body: WRITTEN });
    await ask(one, method, 412, { ...asked, ...OTHER_STATE, body: WRITTEN });
    await refuse(one, method, asked);
  }
  for (const action of ACTIONS) {
    await ask(`${one}/${action}`, 'post', action === 'test' ? 201 : 200, { ...asked, body: {} });
    await refuse(`${one}/${action}`, 'post', asked);
  }
  await read(`${one}/health`, asked, false);

  const [sent] = (await store.deliveries.page(asked.id, { offset: 0, limit: 1 })).items;
  const its = { ...asked, delivery: sent?.id ?? '' };
  await store.deliveries.change(its.delivery, (each) => abandoned(each, 'attempts_exhausted', Date.now()));
  await read(`${one}/deliveries`, asked);
  await read(`${one}/deliveries/{delivery}`, its);
  const again = `${one}/deliveries/{delivery}/replay`;
  await ask(again, 'post', 200, its);
  await ask(again, 'post', 409, its);
  await refuse(again, 'post', its);

  await store.subscriptions.change(asked.id, (each) => ({ ...each, disabled: { reason: 'gone', at: 0 } }));
  await ask(one, 'get', 200, asked);
  await ask(`${one}/replay`, 'post', 409, asked);
  for (let more = 1; more < 100; more += 1) await ask(all, 'post', 201, { body: WRITTEN });
  await ask(all, 'post', 409, { body: WRITTEN });
  await ask(one, 'delete', 412, { ...asked, ...OTHER_STATE });
  await ask(one, 'delete', 400, { ...asked, query: '?really' });
  await ask(one, 'delete', 404);
  await ask(one, 'delete', 204, asked);
  sawAll((operation) => [
    ...['401', '403', '422', '429'],
    ...(operation === `post ${again}` || OWN_CONFLICTS.includes(operation) ? [] : ['409']),
  ]);
});
