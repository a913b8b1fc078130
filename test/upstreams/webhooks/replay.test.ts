// Tests of replay with the real store in memory: which dead letters are replayed, and how many at once.
import { beforeEach, describe, expect, it } from 'vitest';
import { abandoned, type KeptEvent, newDelivery } from '../../../upstreams/webhooks/delivery.ts';
import { MAX_AT_ONCE, readPeriod, replayDead, replayOne } from '../../../upstreams/webhooks/replay.ts';
import { openSqliteStore } from '../../../upstreams/webhooks/sqlite/store.ts';
import type { WebhookStore } from '../../../upstreams/webhooks/store.ts';
import { subscriptionOf } from '../../contracts/webhook-store.ts';

const NOW = Date.UTC(2026, 10, 20);
const DAY_S = 86_400;
const MINE = subscriptionOf('wh_1');
const period = (written: { readonly since?: number; readonly until?: number }) => {
  const read = readPeriod(written);
  if (typeof read === 'string') throw new Error(read);
  return read;
};
const EVER = period({});

let store: WebhookStore;
let parts: { store: WebhookStore; now: () => number };
beforeEach(async () => {
  store = openSqliteStore({ file: ':memory:', now: () => NOW });
  parts = { store, now: () => NOW };
  await store.subscriptions.add(MINE);
});

let count = 0;
/** Returns the id. */
async function dead(created: number, subscription = 'wh_1'): Promise<string> {
  count += 1;
  const event: KeptEvent = { id: `evt_${count}`, type: 'order.created', body: '{}', kept: created };
  const delivery = newDelivery(event, subscription, created);
  await store.keep(event, [delivery]);
  await store.deliveries.change(delivery.id, (each) => abandoned(each, 'attempts_exhausted', created));
  return delivery.id;
}
const stateOf = async (id: string) => (await store.deliveries.read(id))?.state;

describe('a replay of dead letters', () => {
  it('restarts those created between since and until, both included', async () => {
    const days = [1, 2, 3, 4].map((day) => NOW - day * DAY_S * 1000);
    const ids = await Promise.all(days.map((at) => dead(at)));
    const asked = period({ since: NOW / 1000 - 3 * DAY_S, until: NOW / 1000 - 2 * DAY_S });
    expect(await replayDead(parts, MINE, asked)).toEqual({ kind: 'replayed', replayed: 2, left: 0 });
    expect(await Promise.all(ids.map(stateOf))).toEqual(['dead', 'pending', 'pending', 'dead']);
    expect(await store.deliveries.read(ids[1] ?? '')).toMatchObject({ round: 1, tries: 0, nextAt: NOW });
  });

  it('skips delivered and pending ones, and those of other subscriptions', async () => {
    await store.subscriptions.add(subscriptionOf('wh_2'));
    const [delivered, pending, others] = [await dead(NOW), await dead(NOW), await dead(NOW, 'wh_2')];
    await store.deliveries.change(delivered, (each) => ({ ...each, state: 'delivered' }));
    await replayOne(parts, MINE, pending);
    expect(await replayDead(parts, MINE, EVER)).toEqual({ kind: 'replayed', replayed: 0, left: 0 });
    expect([await stateOf(delivered), await stateOf(others)]).toEqual(['delivered', 'dead']);
    expect(await replayOne(parts, MINE, others)).toMatchObject({ kind: 'refused', status: 404 });
  });

  it('is limited per call, the newest first, and returns how many are left', async () => {
    const first = await dead(NOW - 1000);
    for (let more = 0; more < MAX_AT_ONCE; more += 1) await dead(NOW);
    expect(await replayDead(parts, MINE, EVER)).toEqual({
      kind: 'replayed',
      replayed: MAX_AT_ONCE,
      left: 1,
    });
    expect(await stateOf(first)).toBe('dead');
    expect(await replayDead(parts, MINE, EVER)).toEqual({ kind: 'replayed', replayed: 1, left: 0 });
  });

  it('is refused while the subscription is disabled: they would become dead letters again', async () => {
    const id = await dead(NOW);
    const disabled = { ...MINE, disabled: { reason: 'failing', at: NOW } } as const;
    expect(await replayDead(parts, disabled, EVER)).toMatchObject({ kind: 'refused', status: 409 });
    expect(await stateOf(id)).toBe('dead');
  });
});
