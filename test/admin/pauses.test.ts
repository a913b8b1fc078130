// Expired pauses: removed from the store some time after their end, and never before their real end.
import { describe, expect, it } from 'vitest';
import { pauseRoutes } from '../../gateway/admin/pauses.ts';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import type { Override, OverrideStore } from '../../gateway/policy/lifecycle/override.ts';
import { pauseFrom } from '../contracts/override-store.ts';
import { api, NOW, plan, version } from '../support/exchange-samples.ts';

const HOUR = 3_600_000;

function storeOf(overrides: readonly Override[], remove?: OverrideStore['remove'], wasRead = true) {
  let current = overrides;
  const store: OverrideStore = {
    current: () => current,
    wasRead: () => wasRead,
    put: async (override) => {
      current = [...current, override];
    },
    remove:
      remove ??
      (async (id) => {
        current = current.filter((each) => each.id !== id);
        return true;
      }),
  };
  return store;
}

/** Adds a pause. Returns the status. */
async function pause(overrides: OverrideStore, { now = NOW, wallClock = NOW } = {}): Promise<number> {
  const ports = { plan: () => plan(), now: () => now, wallClock: () => wallClock, overrides };
  const route = pauseRoutes(ports).find(({ method }) => method === 'POST');
  if (route?.method !== 'POST') throw new Error('no such route');
  const body = { api: 'orders', version: 'v1', for: '1h', by: 'maria', why: 'checkout fails' };
  const { answer, audit } = await route.perform({
    parameter: () => '',
    query: new URLSearchParams(),
    accept: undefined,
    body,
  });
  expect(audit).toMatchObject({ subject: 'orders v1', by: 'maria' });
  return answer.status;
}

const endingAgo = (ago: number): Override => pauseFrom(NOW - ago - HOUR, { until: NOW - ago });

describe('a gateway whose store was never read', () => {
  /** The responses of the pause pages with this store. */
  async function pages(store: OverrideStore) {
    const routes = pauseRoutes({
      plan: () => plan(),
      now: () => NOW,
      wallClock: () => NOW,
      overrides: store,
    });
    const asked = {
      parameter: () => 'abc',
      query: new URLSearchParams(),
      accept: undefined,
      body: { by: 'maria', why: 'fixed' },
    };
    const answers = await Promise.all(
      routes
        .filter(({ method }) => method !== 'POST')
        .map(async (route) =>
          route.method === 'GET' ? route.show(asked) : (await route.perform(asked)).answer,
        ),
    );
    return answers.map(({ status, headers, body }) => ({
      status,
      headers,
      message: JSON.parse(body).message,
    }));
  }
  const cannotKnow = (what: string) => ({
    status: 503,
    headers: { 'retry-after': '1' },
    message: `The store has not answered since this gateway started, so ${what} is unknown. Retry.`,
  });

  it('ERR-5: responds with 503 instead of reporting no pauses', async () => {
    expect(await pages(storeOf([endingAgo(HOUR)], undefined, false))).toEqual([
      cannotKnow('whether a pause is in force'),
      cannotKnow('whether this pause exists'),
      cannotKnow('whether this pause exists'),
    ]);
    expect((await pages(storeOf([]))).map(({ status }) => status)).toEqual([200, 404, 404]);
  });

  it('shows the pauses that it knows', async () => {
    const known = pauseFrom(NOW - 1, { id: 'abc' });
    expect((await pages(storeOf([known], undefined, false))).map(({ status }) => status)).toEqual([
      200, 200, 200,
    ]);
  });
});

describe('a hold of the guard', () => {
  const hold: Override = { ...pauseFrom(NOW - 1, { id: 'guard-orders-v1' }), kind: 'hold', label: 'v1' };
  const retireWhen = (onExceed: 'hold' | 'warn') => ({
    consumersBelow: 1,
    callsBelow: undefined,
    days: 30,
    onExceed,
  });
  it.each([
    ['renewable if its version has on_exceed: hold', version({ retireWhen: retireWhen('hold') }), true],
    ['not renewable if its version has on_exceed: warn', version({ retireWhen: retireWhen('warn') }), false],
    ['not renewable if its version has no retire_when', version(), false],
  ])('is %s: %#', async (_when, rules, renewable) => {
    const routes = pauseRoutes({
      plan: () => plan([api([rules])]),
      now: () => NOW,
      wallClock: () => NOW,
      overrides: storeOf([hold, pauseFrom(NOW - 1)]),
    });
    const asked = {
      parameter: () => hold.id,
      query: new URLSearchParams(),
      accept: undefined,
      body: { by: 'm', why: 'w' },
    };
    const told = await Promise.all(
      routes
        .filter(({ method }) => method !== 'POST')
        .map((route) =>
          route.method === 'GET' ? route.show(asked) : route.perform(asked).then(({ answer }) => answer),
        ),
    );
    const [list, one, ended] = told.map(({ body }) => JSON.parse(body));
    expect([one.pause.renewable, ended.ended.renewable]).toEqual([renewable, renewable]);
    expect(list.overrides.map((each: object) => Reflect.get(each, 'renewable'))).toContain(renewable);
    expect(list.overrides.filter((each: object) => 'renewable' in each)).toHaveLength(1);
  });
});

describe('pauses that have ended', () => {
  it('are removed a day after their end, when another pause is stored', async () => {
    const [recent, running] = [endingAgo(23 * HOUR), pauseFrom(NOW - 1)];
    const store = storeOf([endingAgo(24 * HOUR), endingAgo(2000 * HOUR), recent, running]);
    expect(await pause(store)).toBe(201);
    expect(store.current().slice(0, -1)).toEqual([recent, running]);
  });

  it('are removed at most ten at a time', async () => {
    const store = storeOf(Array.from({ length: 25 }, () => endingAgo(48 * HOUR)));
    for (const left of [16, 7, 3]) {
      expect(await pause(store)).toBe(201);
      expect(store.current()).toHaveLength(left);
    }
  });

  it.each([
    ['by a lifecycle clock that was moved ahead', { now: NOW + 1000 * HOUR }],
    ['by a real clock that is ahead of the lifecycle clock', { wallClock: NOW + 1000 * HOUR }],
  ])('stay if they have ended only %s', async (_which, clocks) => {
    const running = pauseFrom(NOW);
    const store = storeOf([running]);
    expect(await pause(store, clocks)).toBe(201);
    expect(store.current()).toContain(running);
  });

  it('do not affect a new pause if the store fails to remove them', async () => {
    const away = async () => Promise.reject(new StoreUnavailable('away'));
    expect(await pause(storeOf([endingAgo(48 * HOUR)], away))).toBe(201);
  });
});
