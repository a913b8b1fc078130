// Events for the webhooks service: every kind, long names, and a failure that does not affect other events.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { eventOf } from '../../gateway/announce/event.ts';
import { noticesAt } from '../../gateway/announce/notices.ts';
import { createEventSender } from '../../gateway/announce/send-event.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { EVENT_TYPES } from '../../upstreams/webhooks/event-types.ts';
import { openSqliteStore } from '../../upstreams/webhooks/sqlite/store.ts';
import { startWebhooks } from '../../upstreams/webhooks/webhooks.ts';
import { planOf } from '../plan/workspace.ts';
import { openHarness } from './harness.ts';

const LONG = 'far-too-long-for-an-id'.repeat(4);
const POLICY = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" }, { default: v2 } ]
access: public
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
versions:
  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2026-12-15
    retired: 2027-02-01
    extended: [{ to: 2027-01-15, announced: 2026-06-01, why: one more month }]
    successor: v2
    brownouts: [{ from: "2026-12-12T14:00:00Z", for: 1h, announced: 2026-11-01 }]
    guide: https://docs.example.com/v2
    operations: { "GET /${LONG}/{id}": { sunset: 2026-12-20 } }
  v2: { released: 2026-01-15 }
`;

let service: Service;
const kept: string[] = [];
beforeAll(async () => {
  const store = openSqliteStore({ file: ':memory:', now: Date.now });
  service = await startWebhooks({
    port: 0,
    store: {
      ...store,
      keep: (event, deliveries) => {
        kept.push(event.id);
        return store.keep(event, deliveries);
      },
    },
    sealingKey: Buffer.alloc(32, 1),
    destinations: { allow: [], deny: [] },
    ca: () => undefined,
    log: () => undefined,
  });
});
afterAll(() => service.close());

it('the webhooks service stores each event under an id that is unique and stable', async () => {
  const plan = await planOf(POLICY);
  const days = [Date.UTC(2027, 0, 10), Date.UTC(2027, 1, 2)];
  const notices = days.flatMap((now) =>
    plan.apis.flatMap((api) => noticesAt(api, { now, overrides: [] }, [30, 7]).due),
  );
  const events = [...new Map(notices.map((each) => [each.id, eventOf(plan, each)])).values()];
  expect(new Set(events.map(({ type }) => type))).toEqual(
    new Set(EVENT_TYPES.filter((type) => type.startsWith('version.'))),
  );
  const send = createEventSender(`${service.url}/events`);
  for (const event of events) expect(await send(event)).toEqual({ kind: 'sent' });
  expect(new Set(kept).size).toBe(events.length);
  expect(notices.map((each) => eventOf(plan, each).id).filter((id) => !kept.includes(id))).toEqual([]);
});

it.each([
  [400, true],
  [413, true],
  [404, false],
  [503, false],
])('an intake that answers %i may accept other events: %s', async (status, onlyThis) => {
  const intake = createServer((_, response) => void response.writeHead(status).end());
  intake.listen(0, '127.0.0.1');
  await vi.waitFor(() => expect(intake.listening).toBe(true));
  const send = createEventSender(`http://127.0.0.1:${(intake.address() as AddressInfo).port}/events`);
  const event = { id: 'a', type: 'version.sunset', created: 0, data: {} } as const;
  expect(await send(event)).toEqual({ kind: 'failed', onlyThis, reason: `status ${status}` });
  intake.close();
});

it('an event that the intake rejects is retried, and later events are still posted', async () => {
  await using harness = await openHarness({ policy: POLICY, now: Date.UTC(2026, 11, 1) });
  await harness.announcer().announce();
  harness.now = Date.UTC(2027, 0, 10);
  const posted: string[] = [];
  const announcer = harness.announcer({
    sendEvent: async ({ type }) => {
      posted.push(type);
      return type === 'version.sunset'
        ? { kind: 'failed', onlyThis: true, reason: 'status 400' }
        : { kind: 'sent' };
    },
  });
  expect((await announcer.announce()).events).toMatchObject({ failed: 1, sent: posted.length - 1 });
  expect(posted.at(-1)).not.toBe('version.sunset');
  expect((await announcer.announce()).events).toEqual({ failed: 1, sent: 0 });
});
