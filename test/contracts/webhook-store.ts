// The contract of every store of the webhooks service. Each test opens its store twice, like two processes.
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  abandoned,
  type Delivery,
  type KeptEvent,
  newDelivery,
  postponed,
  replayed,
} from '../../upstreams/webhooks/delivery.ts';
import { HEALTHY } from '../../upstreams/webhooks/health.ts';
import type { Handle, Next, WebhookStore, Work } from '../../upstreams/webhooks/store.ts';
import type { Subscription } from '../../upstreams/webhooks/subscription.ts';

export interface StorePlace {
  /** Opens the store again. */
  readonly open: () => Promise<WebhookStore>;
  /**
   * Starts a process that takes due deliveries and never finishes them. Resolves after it has taken `count`.
   * `kill` sends SIGKILL.
   */
  readonly holdInAnotherProcess: (count: number) => Promise<{ readonly kill: () => Promise<void> }>;
  readonly dispose: () => Promise<void>;
}

/** Short, because a test waits for it, and long enough for a busy machine to renew. */
export const LEASE_MS = 1_500;
const FINISHED: Next = { kind: 'finished' };

/** Finishes each delivery in its record too, because the store reads the state there. */
export function finishOn(store: WebhookStore): Handle {
  return async (id) => {
    await store.deliveries.change(id, (each) => abandoned(each, 'attempts_exhausted', Date.now()));
    return FINISHED;
  };
}
const T0 = 1_772_323_200_000;

export function subscriptionOf(id: string, more: Partial<Subscription> = {}): Subscription {
  return {
    id,
    owner: 'acme',
    url: `https://${id}.example.com/`,
    events: ['payment.completed'],
    signature: 'both',
    secrets: [{ sealed: 'c2VhbGVk' }],
    created: T0,
    updated: T0,
    ...more,
  };
}

export function eventOf(id: string, kept = T0): KeptEvent {
  return { id, type: 'payment.completed', body: `{"id":"${id}"}`, kept };
}

export function keepsTheContract(name: string, place: () => Promise<StorePlace>): void {
  describe(`the store on ${name}`, () => {
    let here: StorePlace;
    let store: WebhookStore;
    let other: WebhookStore;
    const working: Work[] = [];

    beforeEach(async () => {
      here = await place();
      store = await here.open();
      other = await here.open();
    });
    afterEach(async () => {
      await Promise.all(working.splice(0).map((work) => work.stop()));
      await store.close();
      await other.close();
      await here.dispose();
    });

    /** Ids in the order of delivery to the handler. */
    const work = (on: WebhookStore, handle: Handle = finishOn(on), concurrency = 4): readonly string[] => {
      const handed: string[] = [];
      const faults = (error: unknown) => expect(error).toMatchObject({ message: 'not now' });
      const each: Handle = async (id) => {
        handed.push(id);
        return handle(id);
      };
      working.push(on.work(each, { concurrency, leaseMs: LEASE_MS, onFault: faults }));
      return handed;
    };
    const keep = async (on: WebhookStore, id: string, now: number, to = 'wh_1'): Promise<Delivery> => {
      const delivery = newDelivery(eventOf(id, now), to, now);
      expect(await on.keep(eventOf(id, now), [delivery])).toBe('kept');
      return delivery;
    };

    it('stores an event with its deliveries once: the same id changes nothing', async () => {
      const delivery = await keep(store, 'evt_1', T0);
      const again = newDelivery(eventOf('evt_1'), 'wh_2', T0);
      expect(await other.keep({ ...eventOf('evt_1'), body: '{}' }, [again])).toBe('known');
      expect(await other.event('evt_1')).toEqual(eventOf('evt_1'));
      expect(await other.deliveries.read(delivery.id)).toEqual(delivery);
      expect(await other.deliveries.read(again.id)).toBeUndefined();
      expect(await other.event('evt_2')).toBeUndefined();
    });

    it('adds, changes, removes and finds subscriptions, by owner and by event type', async () => {
      const first = subscriptionOf('wh_1', {
        created: T0 + 1,
        events: ['order.created', 'payment.completed'],
      });
      const second = subscriptionOf('wh_2', { created: T0 + 2 });
      const foreign = subscriptionOf('wh_3', { owner: 'globex', created: T0 + 3 });
      for (const each of [second, foreign, first]) await store.subscriptions.add(each);
      await expect(other.subscriptions.add(first)).rejects.toThrow();
      expect(await other.subscriptions.ofOwner('acme')).toEqual([first, second]);
      expect(await other.subscriptions.all()).toEqual([first, second, foreign]);
      const wanting = async (type: string) => (await other.subscriptions.wanting(type)).map(({ id }) => id);
      expect(await wanting('payment.completed')).toEqual(['wh_1', 'wh_2', 'wh_3']);
      expect(await wanting('order.created')).toEqual(['wh_1']);

      const changed = await store.subscriptions.change('wh_1', (one) => ({
        ...one,
        events: ['payment.failed'],
      }));
      expect(changed).toEqual({ ...first, events: ['payment.failed'] });
      expect(await wanting('order.created')).toEqual([]);
      expect(await wanting('payment.failed')).toEqual(['wh_1']);
      await store.subscriptions.change('wh_2', (one) => ({ ...one, disabled: { reason: 'gone', at: T0 } }));
      expect(await wanting('payment.completed')).toEqual(['wh_3']);
      await store.subscriptions.change('wh_2', ({ disabled: _, ...one }) => one);
      expect(await wanting('payment.completed')).toEqual(['wh_2', 'wh_3']);

      expect(await store.subscriptions.change('wh_9', (one) => one)).toBeUndefined();
      expect(await other.subscriptions.remove('wh_3')).toBe(true);
      expect(await other.subscriptions.remove('wh_3')).toBe(false);
      expect(await store.subscriptions.read('wh_3')).toBeUndefined();
      expect(await wanting('payment.completed')).toEqual(['wh_2']);
    });

    it('loses no change among concurrent changes of two processes', async () => {
      await store.subscriptions.add(subscriptionOf('wh_1'));
      const many = Array.from({ length: 10 }, () => [store, other]).flat();
      await Promise.all(
        many.map((each) => each.health.change('wh_1', (one) => ({ ...one, failures: one.failures + 1 }))),
      );
      expect(await store.health.read('wh_1')).toEqual({ ...HEALTHY, failures: many.length });
      await Promise.all(
        many.map((each) =>
          each.subscriptions.change('wh_1', (one) => ({ ...one, updated: one.updated + 1 })),
        ),
      );
      expect((await store.subscriptions.read('wh_1'))?.updated).toBe(T0 + many.length);
      expect(await store.health.read('wh_2')).toEqual(HEALTHY);
    });

    it('lists the deliveries of a subscription, the newest first, and counts by state', async () => {
      const [one, two, three] = [
        await keep(store, 'evt_1', T0 + 1),
        await keep(store, 'evt_2', T0 + 2),
        await keep(store, 'evt_3', T0 + 3),
      ];
      await keep(store, 'evt_4', T0 + 4, 'wh_2');
      expect(await store.deliveries.oldestDue()).toBe(T0 + 1);
      const dead = await other.deliveries.change(two.id, (each) =>
        abandoned(each, 'attempts_exhausted', T0 + 9),
      );
      expect(dead).toMatchObject({ state: 'dead', death: 'attempts_exhausted' });
      await other.deliveries.change(one.id, (each) => postponed(each, T0 + 60));
      const page = (cut: object) => store.deliveries.page('wh_1', { offset: 0, limit: 2, ...cut });
      expect(await page({})).toEqual({ total: 3, items: [three, dead] });
      expect((await page({ offset: 2 })).items).toMatchObject([{ id: one.id, nextAt: T0 + 60 }]);
      expect(await page({ state: 'dead' })).toEqual({ total: 1, items: [dead] });
      expect(await page({ state: 'delivered' })).toEqual({ total: 0, items: [] });
      expect(await store.deliveries.counts()).toEqual({ pending: 3, delivered: 0, dead: 1 });
      expect(await store.deliveries.oldestDue()).toBe(T0 + 3);
      expect(await store.deliveries.change('dlv_9', (each) => each)).toBeUndefined();
    });

    it('removes a subscription with its deliveries and its health', async () => {
      await store.subscriptions.add(subscriptionOf('wh_1'));
      const delivery = await keep(store, 'evt_1', T0);
      await store.health.change('wh_1', (one) => ({ ...one, failures: 3 }));
      await store.subscriptions.remove('wh_1');
      expect(await other.deliveries.read(delivery.id)).toBeUndefined();
      expect(await other.deliveries.counts()).toEqual({ pending: 0, delivered: 0, dead: 0 });
      expect(await other.health.read('wh_1')).toEqual(HEALTHY);
    });

    it('deletes deliveries finished before a time, and no pending ones', async () => {
      const [old, waiting, young] = [
        await keep(store, 'evt_1', T0),
        await keep(store, 'evt_2', T0),
        await keep(store, 'evt_3', T0 + 100),
      ];
      await store.deliveries.change(old.id, (each) => abandoned(each, 'attempts_exhausted', T0 + 1));
      await store.deliveries.change(young.id, (each) => abandoned(each, 'attempts_exhausted', T0 + 101));
      await store.forget(T0 + 100);
      expect(await other.deliveries.read(old.id)).toBeUndefined();
      expect((await other.deliveries.page('wh_1', { offset: 0, limit: 9 })).total).toBe(2);
      expect(await other.deliveries.read(waiting.id)).toBeDefined();
      expect(await other.event('evt_3')).toBeDefined();
    });

    it('hands each due delivery to one of two workers, once, and later ones too', async () => {
      const now = Date.now();
      const early = [await keep(store, 'evt_1', now), await keep(store, 'evt_2', now)];
      // Each delivery runs for longer than the other worker takes to look.
      const slowly = (on: WebhookStore): Handle => {
        const finish = finishOn(on);
        return (id) => pause(50).then(() => finish(id));
      };
      const [mine, theirs] = [work(store, slowly(store)), work(other, slowly(other))];
      const late = [await keep(store, 'evt_3', Date.now()), await keep(other, 'evt_4', Date.now())];
      const ids = [...early, ...late].map(({ id }) => id).sort();
      await expect.poll(() => [...mine, ...theirs].sort(), { interval: 10 }).toEqual(ids);
      await expect.poll(() => store.deliveries.counts(), { interval: 10 }).toMatchObject({ pending: 0 });
      expect([...mine, ...theirs].sort()).toEqual(ids);
    });

    it('hands out postponed deliveries when they are due, and failed ones soon', async () => {
      const delivery = await keep(store, 'evt_1', Date.now());
      const at: number[] = [];
      let until = 0;
      const handed = work(store, async (id) => {
        at.push(Date.now());
        if (at.length === 1) {
          until = Date.now() + 60;
          await store.deliveries.change(id, (each) => postponed(each, until));
          return { kind: 'later', at: until };
        }
        if (at.length === 2) throw new Error('not now');
        return finishOn(store)(id);
      });
      await expect.poll(() => handed, { interval: 10 }).toHaveLength(3);
      expect(new Set(handed)).toEqual(new Set([delivery.id]));
      expect(at[1]).toBeGreaterThanOrEqual(until);
    });

    it('hands out a replayed delivery again', async () => {
      const delivery = await keep(store, 'evt_1', Date.now());
      const handed = work(store);
      await expect.poll(async () => (await other.deliveries.read(delivery.id))?.state).toBe('dead');
      await other.deliveries.change(delivery.id, (each) => replayed(each, Date.now()));
      await expect.poll(() => handed, { interval: 10 }).toEqual([delivery.id, delivery.id]);
    });

    it('runs at most the allowed number of deliveries at once, and stop waits for them', async () => {
      for (let number = 0; number < 6; number += 1) await keep(store, `evt_${number}`, Date.now());
      const gate = Promise.withResolvers<void>();
      const handed = work(store, (id) => gate.promise.then(() => finishOn(store)(id)), 2);
      await expect.poll(() => handed, { interval: 10 }).toHaveLength(2);
      const stopped = working.splice(0)[0]?.stop();
      const early = await Promise.race([stopped, pause(20, 'still under way')]);
      expect(early).toBe('still under way');
      gate.resolve();
      await stopped;
      expect(handed).toHaveLength(2);
    });

    it('hands out the deliveries of a killed process again', async () => {
      const deliveries = [await keep(store, 'evt_1', Date.now()), await keep(store, 'evt_2', Date.now())];
      const { kill } = await here.holdInAnotherProcess(deliveries.length);
      await kill();
      const handed = work(store);
      const ids = deliveries.map(({ id }) => id).sort();
      await expect.poll(() => [...handed].sort(), { interval: 20 }).toEqual(ids);
    });
  });
}
