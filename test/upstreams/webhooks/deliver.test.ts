// Tests of due deliveries and their endpoints, with a store in memory, a manual clock and chosen responses.
import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptOutcome } from '../../../upstreams/webhooks/attempt.ts';
import { createDeliver } from '../../../upstreams/webhooks/deliver.ts';
import {
  afterAttempt,
  type Delivery,
  type KeptEvent,
  newDelivery,
  replayed,
} from '../../../upstreams/webhooks/delivery.ts';
import { createEndpointSlots } from '../../../upstreams/webhooks/endpoint-slots.ts';
import { breakerState, disableProgress, type HealthRules } from '../../../upstreams/webhooks/health.ts';
import { nextAttemptDelay } from '../../../upstreams/webhooks/schedule.ts';
import { openSecret, sealSecret } from '../../../upstreams/webhooks/secret.ts';
import { openSqliteStore } from '../../../upstreams/webhooks/sqlite/store.ts';
import type { WebhookStore } from '../../../upstreams/webhooks/store.ts';
import { withSecret } from '../../../upstreams/webhooks/subscription.ts';
import { createAlerts } from '../../../upstreams/webhooks/warnings.ts';
import { subscriptionOf } from '../../contracts/webhook-store.ts';

const KEY = Buffer.alloc(32, 7);
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const HOUR = 3_600_000;
const RULES: HealthRules = {
  openAfter: 3,
  openMs: 60_000,
  probeMs: 20_000,
  disableAfterMs: 100 * HOUR,
  disableAfterFailures: 4,
};

const ended = { message: 'as the test says', durationMs: 12 };
const delivered: AttemptOutcome = { kind: 'delivered', status: 200, ...ended };
const failing: AttemptOutcome = { kind: 'failed', status: 500, ...ended };
const gone: AttemptOutcome = { kind: 'gone', status: 410, ...ended };
const throttled = (retryAfterMs?: number): AttemptOutcome => ({
  kind: 'throttled',
  status: 429,
  retryAfterMs,
  ...ended,
});

let now: number;
let store: WebhookStore;
let answer: AttemptOutcome | Promise<AttemptOutcome>;
let sent: { url: string; headers: Readonly<Record<string, string>>; body: string }[];
let told: object[];
let ending: AbortController;
let deliver: (id: string) => Promise<unknown>;

beforeEach(async () => {
  now = Date.UTC(2026, 10, 20);
  store = openSqliteStore({ file: ':memory:', now: () => now });
  answer = delivered;
  sent = [];
  told = [];
  ending = new AbortController();
  deliver = createDeliver({
    store,
    attempt: async ({ url, headers, body }) => {
      sent.push({ url, headers, body: body.toString() });
      return answer;
    },
    nextDelay: nextAttemptDelay,
    openSecret: (sealed) => openSecret(KEY, sealed),
    slots: createEndpointSlots({ perEndpoint: 2, perOwner: 3, perHost: 100 }),
    rules: RULES,
    alerts: createAlerts({
      store,
      rules: RULES,
      now: () => now,
      report: (what, details) => told.push({ what, ...details }),
    }),
    observe: () => undefined,
    ending: ending.signal,
    now: () => now,
    random: () => 0.5,
  });
  await store.subscriptions.add(subscriptionOf('wh_1', { secrets: [{ sealed: sealSecret(KEY, SECRET) }] }));
});

let count = 0;
async function due(subscription = 'wh_1', body?: string): Promise<string> {
  count += 1;
  const id = `evt_${count}`;
  const event: KeptEvent = { id, type: 'payment.completed', body: body ?? `{"id":"${id}"}`, kept: now };
  const delivery = newDelivery(event, subscription, now);
  await store.keep(event, [delivery]);
  return delivery.id;
}

const read = async (id: string): Promise<Delivery> => {
  const found = await store.deliveries.read(id);
  if (found === undefined) throw new Error(`there is no delivery ${id}`);
  return found;
};
const health = () => store.health.read('wh_1');
/** Delivers at the due time, `times` times. */
const tryAgain = async (id: string, times = 1): Promise<void> => {
  for (let time = 0; time < times; time += 1) {
    now = Math.max(now, (await read(id)).nextAt);
    await deliver(id);
  }
};

describe('an attempt', () => {
  it('WH-3: sends the stored text, with the id of the event and the time of the attempt', async () => {
    const body = '{"amount": 12345678901234567890, "id": "evt"}';
    const id = await due('wh_1', body);
    answer = failing;
    await deliver(id);
    now += 5_000;
    answer = delivered;
    await deliver(id);
    const { event } = await read(id);
    expect(sent.map((each) => each.body)).toEqual([body, body]);
    expect(sent.map((each) => each.headers['webhook-id'])).toEqual([event, event]);
    const [first, second] = sent.map((each) => Number(each.headers['webhook-timestamp']));
    expect((second ?? 0) - (first ?? 0)).toBe(5);
    expect(await read(id)).toMatchObject({
      state: 'delivered',
      attempts: [
        { outcome: 'failed', status: 500 },
        { outcome: 'delivered', durationMs: 12 },
      ],
    });
  });

  it('WH-2: is signed with the old secret too during the overlap, and not afterwards', async () => {
    const sealed = sealSecret(KEY, 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');
    await store.subscriptions.change('wh_1', (each) => withSecret(each, sealed, { now, overlapMs: HOUR }));
    await deliver(await due());
    now += HOUR;
    await deliver(await due());
    expect(sent.map(({ headers }) => headers['webhook-signature']?.split(' ').length)).toEqual([2, 1]);
  });

  it('is not made before it is due, or for a finished or unknown delivery', async () => {
    const id = await due();
    now -= 1;
    expect(await deliver(id)).toEqual({ kind: 'later', at: now + 1 });
    now += 1;
    await deliver(id);
    expect(await deliver(id)).toEqual({ kind: 'finished' });
    expect(await deliver('dlv_unknown')).toEqual({ kind: 'finished' });
    expect(sent).toHaveLength(1);
  });

  it('WH-6: a slower concurrent attempt does not make a finished delivery pending', async () => {
    const attempted = { at: now, message: '', durationMs: 1 };
    const failure = { ...attempted, outcome: 'failed' } as const;
    const then = { now, retryAt: now + 1, death: 'attempts_exhausted' } as const;
    const pending = newDelivery({ id: 'evt_0', type: 'a.b' }, 'wh_1', now);
    const done = afterAttempt(pending, { ...attempted, outcome: 'delivered' }, then);
    expect(afterAttempt(done, failure, then)).toBe(done);
    const dead = afterAttempt(pending, failure, { ...then, retryAt: undefined });
    expect(afterAttempt(dead, failure, then)).toBe(dead);
    expect(afterAttempt(dead, { ...attempted, outcome: 'delivered' }, then).state).toBe('delivered');
  });

  it('that is running when the service ends changes nothing', async () => {
    const id = await due();
    const before = await read(id);
    answer = Promise.reject(new Error('the service ends'));
    const ended = deliver(id);
    ending.abort();
    expect(await ended).toEqual({ kind: 'later', at: before.nextAt });
    expect(await read(id)).toEqual(before);
  });
});

describe('a failed delivery', () => {
  it('WH-6: is tried ten times over 75 hours and then becomes a dead letter', async () => {
    const id = await due();
    answer = failing;
    const hours: number[] = [];
    const began = now;
    while ((await read(id)).state === 'pending') {
      await tryAgain(id);
      if (sent.length > hours.length) hours.push((now - began) / HOUR);
    }
    expect(hours).toHaveLength(10);
    expect(hours.at(-1)).toBeGreaterThan(75);
    expect(hours.at(-1)).toBeLessThan(77);
    expect(await read(id)).toMatchObject({ state: 'dead', death: 'attempts_exhausted', tries: 10 });
  });

  it.each([
    { asked: 30_000, waits: 30_000 },
    { asked: 1_000, waits: 5_000 },
    { asked: undefined, waits: 5_000 },
    { asked: 99 * 24 * HOUR, waits: 24 * HOUR },
  ])('WH-5: 429 with Retry-After $asked ms waits $waits ms', async ({ asked, waits }) => {
    const id = await due();
    answer = throttled(asked);
    expect(await deliver(id)).toEqual({ kind: 'later', at: now + waits });
  });

  it('WH-5: with Retry-After delays all deliveries to that endpoint', async () => {
    answer = throttled(30_000);
    await deliver(await due());
    const other = await due();
    await deliver(other);
    expect(sent).toHaveLength(1);
    expect((await read(other)).nextAt).toBeGreaterThanOrEqual(now + 30_000);
    expect((await read(other)).tries).toBe(0);
  });

  it('WH-5: with a Retry-After of years delays the endpoint for a day', async () => {
    answer = throttled(3650 * 24 * HOUR);
    const id = await due();
    await deliver(id);
    const other = await due();
    await deliver(other);
    now += 24 * HOUR;
    answer = delivered;
    await deliver(id);
    expect(await read(id)).toMatchObject({ state: 'delivered', tries: 2 });
    await tryAgain(other);
    expect(await read(other)).toMatchObject({ state: 'delivered', tries: 1 });
  });

  it('WH-5: with 410 disables the subscription, whose other deliveries become dead letters', async () => {
    answer = gone;
    const [first, second] = [await due(), await due()];
    await deliver(first);
    await deliver(second);
    expect(sent).toHaveLength(1);
    expect((await store.subscriptions.read('wh_1'))?.disabled).toEqual({ reason: 'gone', at: now });
    expect(await store.subscriptions.wanting('payment.completed')).toEqual([]);
    for (const id of [first, second]) {
      expect(await read(id)).toMatchObject({ state: 'dead', death: 'subscription_disabled' });
    }
    expect(told).toMatchObject([{ what: 'webhook_disabled', subscription: 'wh_1', reason: 'gone' }]);
  });
});

it('a secret of another key makes dead letters, which a rotation and a replay deliver', async () => {
  const other = sealSecret(Buffer.alloc(32, 8), SECRET);
  await store.subscriptions.change('wh_1', (each) => ({ ...each, secrets: [{ sealed: other }] }));
  const id = await due();
  await deliver(id);
  expect(sent).toEqual([]);
  expect(await read(id)).toMatchObject({
    state: 'dead',
    death: 'secret_lost',
    attempts: [{ message: 'The secret of the subscription is lost: rotate it, then replay this' }],
  });
  expect(await health()).toMatchObject({ failures: 0 });
  const rotation = { now, overlapMs: HOUR };
  await store.subscriptions.change('wh_1', (each) => withSecret(each, sealSecret(KEY, SECRET), rotation));
  await store.deliveries.change(id, (each) => replayed(each, now));
  await deliver(id);
  expect(await read(id)).toMatchObject({ state: 'delivered' });
});

it('the last attempt of an endpoint is stored with outcome and status', async () => {
  for (const outcome of [failing, throttled(), delivered, gone]) {
    answer = outcome;
    now += HOUR;
    await deliver(await due());
    expect((await health()).lastAttempt).toEqual({ at: now, outcome: outcome.kind, status: outcome.status });
  }
});

describe('the breaker of an endpoint', () => {
  const open = async (): Promise<void> => {
    answer = failing;
    for (let time = 0; time < RULES.openAfter; time += 1) await deliver(await due());
    expect(breakerState(await health(), now)).toBe('open');
    sent = [];
  };

  it('opens after failures in a row, and postpones due deliveries without an attempt', async () => {
    await open();
    const id = await due();
    await deliver(id);
    expect(sent).toEqual([]);
    expect(await read(id)).toMatchObject({ tries: 0, nextAt: now + RULES.openMs * 1.25 });
  });

  it('lets one probe through after its pause; the others wait for its result, which closes it', async () => {
    await open();
    now += RULES.openMs;
    expect(breakerState(await health(), now)).toBe('half_open');
    const gate = Promise.withResolvers<AttemptOutcome>();
    answer = gate.promise;
    const probe = deliver(await due());
    await expect.poll(() => sent.length, { interval: 1 }).toBe(1);
    const other = await due();
    await deliver(other);
    expect(sent).toHaveLength(1);
    gate.resolve(delivered);
    await probe;
    expect(await health()).toMatchObject({ failures: 0, alerted: 0 });
    answer = delivered;
    await tryAgain(other);
    expect(await read(other)).toMatchObject({ state: 'delivered' });
  });

  it('opens again if the probe fails, and allows another one if its result is lost', async () => {
    await open();
    now += RULES.openMs;
    await deliver(await due());
    expect(breakerState(await health(), now)).toBe('open');
    now += RULES.openMs;
    await store.health.change('wh_1', (each) => ({ ...each, openUntil: now + RULES.probeMs }));
    now += RULES.probeMs;
    sent = [];
    await deliver(await due());
    expect(sent).toHaveLength(1);
  });
});

describe('an endpoint that keeps failing', () => {
  beforeEach(async () => {
    const events = ['webhook.failing', 'webhook.disabled'];
    await store.subscriptions.add(subscriptionOf('wh_own', { events }));
    await store.subscriptions.add(subscriptionOf('wh_foreign', { events, owner: 'globex' }));
    answer = failing;
  });
  const failAt = async (share: number, began: number): Promise<void> => {
    now = began + share * RULES.disableAfterMs;
    await deliver(await due());
  };

  it('WH-6: is alerted once at 50, 70, 90 and 100 % of the allowed time, and then disabled', async () => {
    // The failing endpoint does not get the alert itself.
    await store.subscriptions.change('wh_1', (each) => ({
      ...each,
      events: [...each.events, 'webhook.failing', 'webhook.disabled'],
    }));
    const began = now;
    const shares = [0, 0.1, 0.2, 0.3, 0.49, 0.5, 0.6, 0.75, 0.8, 0.95, 1];
    for (const share of shares) await failAt(share, began);
    expect(told).toMatchObject([
      { what: 'webhook_failing', level: 50 },
      { what: 'webhook_failing', level: 70 },
      { what: 'webhook_failing', level: 90 },
      { what: 'webhook_failing', level: 100 },
      { what: 'webhook_disabled', reason: 'failing' },
    ]);
    expect((await store.subscriptions.read('wh_1'))?.disabled?.reason).toBe('failing');
    const { items } = await store.deliveries.page('wh_own', { offset: 0, limit: 9 });
    expect(items.map(({ type }) => type).sort()).toEqual([
      'webhook.disabled',
      ...Array.from({ length: 4 }, () => 'webhook.failing'),
    ]);
    const first = await store.event(items.at(-1)?.event ?? '');
    expect(JSON.parse(first?.body ?? '')).toMatchObject({
      type: 'webhook.failing',
      data: { subscription: 'wh_1', level: 50, failing_since: began / 1000 },
    });
    expect((await store.deliveries.page('wh_foreign', { offset: 0, limit: 9 })).total).toBe(0);
    const own = (await store.deliveries.page('wh_1', { offset: 0, limit: 99 })).items;
    expect(new Set(own.map(({ type }) => type))).toEqual(new Set(['payment.completed']));
  });

  it('WH-6: is not disabled for few failures far apart, and starts again after a success', async () => {
    const began = now;
    await failAt(0, began);
    await failAt(1, began);
    expect(disableProgress(await health(), RULES)).toBe(50);
    answer = delivered;
    await deliver(await due());
    answer = failing;
    await failAt(1.1, began);
    expect(disableProgress(await health(), RULES)).toBe(0);
    expect((await store.subscriptions.read('wh_1'))?.disabled).toBeUndefined();
  });
});

describe('several deliveries to one endpoint', () => {
  it('run two at a time here, and the others are postponed and block no other endpoint', async () => {
    await store.subscriptions.add(subscriptionOf('wh_2', { secrets: [{ sealed: sealSecret(KEY, SECRET) }] }));
    const gate = Promise.withResolvers<AttemptOutcome>();
    answer = gate.promise;
    const running = [deliver(await due()), deliver(await due())];
    await expect.poll(() => sent.length, { interval: 1 }).toBe(2);
    const waiting = [await due(), await due()];
    for (const id of waiting) await deliver(id);
    expect(sent).toHaveLength(2);
    const [first = 0, second = 0] = (await Promise.all(waiting.map(read))).map(({ nextAt }) => nextAt);
    expect(first).toBeGreaterThan(now);
    expect(second).toBeGreaterThan(first);
    const elsewhere = deliver(await due('wh_2'));
    await expect.poll(() => sent.length, { interval: 1 }).toBe(3);
    // One of two has ended, so there is room for exactly one.
    const slots = createEndpointSlots({ perEndpoint: 2, perOwner: 3, perHost: 100 });
    const take = () => slots.take({ id: 'wh_1', owner: 'acme', url: 'https://hooks.example.org/' }, now);
    const [one] = [take(), take()];
    if (one.kind === 'free') one.release(1);
    expect([take().kind, take().kind]).toEqual(['free', 'full']);
    gate.resolve(delivered);
    await Promise.all([...running, elsewhere]);
  });
});

it('slow endpoints of one owner do not use up the slots of other owners', async () => {
  const secrets = [{ sealed: sealSecret(KEY, SECRET) }];
  for (const id of ['wh_2', 'wh_3', 'wh_4']) await store.subscriptions.add(subscriptionOf(id, { secrets }));
  await store.subscriptions.add(subscriptionOf('wh_other', { owner: 'globex', secrets }));
  const gate = Promise.withResolvers<AttemptOutcome>();
  answer = gate.promise;
  const running: Promise<unknown>[] = [];
  for (const id of ['wh_1', 'wh_2', 'wh_3']) running.push(deliver(await due(id)));
  await expect.poll(() => sent.length, { interval: 1 }).toBe(3);
  const fourth = await due('wh_4');
  await deliver(fourth);
  expect((await read(fourth)).nextAt).toBeGreaterThan(now);
  running.push(deliver(await due('wh_other')));
  await expect.poll(() => sent.map(({ url }) => url).at(-1), { interval: 1 }).toContain('wh_other');
  expect(sent).toHaveLength(4);
  gate.resolve(delivered);
  await Promise.all(running);
  now = (await read(fourth)).nextAt;
  await deliver(fourth);
  expect(await read(fourth)).toMatchObject({ state: 'delivered', tries: 1 });
});
