// Pin moves through the admin API while another gateway moves the same pin: one retry, then a refusal.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pinRoutes } from '../../gateway/admin/pins.ts';
import type { AdminWriteResult } from '../../gateway/admin/route.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import type { Pin, PinStore } from '../../gateway/policy/versioning/pin.ts';
import { openEmbeddedState } from '../../gateway/stores/embedded/embedded-state.ts';
import { NOW, workspace } from '../plan/workspace.ts';

const PAYMENTS = `api: payments
base: /api/payments
resolve: [ { header: API-Version }, { pin: {} } ]
access: { identity: main, scopes: { read: [payments:read] } }
upstreams:
  "2025-03-01": { targets: [http://127.0.0.1:4005] }
  "2025-09-01": { targets: [http://127.0.0.1:4005] }
  "2026-03-01": { targets: [http://127.0.0.1:4005] }
versions:
  "2025-03-01": { released: 2025-03-01 }
  "2025-09-01": { released: 2025-09-01 }
  "2026-03-01": { released: 2026-03-01 }
`;
const KEY = { api: 'payments', account: 'acme' };
let perTest = new AsyncDisposableStack();
let plan: GatewayPlan;
let pins: PinStore;

beforeEach(async () => {
  perTest = new AsyncDisposableStack();
  const files = perTest.use(await workspace({ 'policies/payments.yaml': PAYMENTS }));
  const loaded = await files.load();
  if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems));
  plan = loaded.plan;
  const folder = perTest.adopt(await mkdtemp(join(tmpdir(), 'sundial-pins-')), (made) =>
    rm(made, { recursive: true }),
  );
  const state = await openEmbeddedState(folder, { onState: () => {}, onFault: () => {} });
  perTest.defer(() => state.close());
  pins = state.pins;
});
afterEach(() => perTest.disposeAsync());

const moved = (label: string, since: number): Pin => ({
  label,
  origin: 'upgrade',
  since,
  previous: undefined,
});

/** The store, in which another gateway moves the pin to each of `others`, right before a change arrives. */
function between(others: Pin[]): PinStore {
  return {
    ...pins,
    replace: async (key, current, next) => {
      const other = others.shift();
      if (other !== undefined) await pins.replace(key, await pins.find(key), other);
      return pins.replace(key, current, next);
    },
  };
}

function write(method: 'PUT' | 'POST', store: PinStore, asked: object): Promise<AdminWriteResult> {
  const ports = { plan: () => plan, now: () => NOW, overrides: { current: () => [] }, pins: store };
  const route = pinRoutes(ports).find((each) => each.method === method);
  if (route === undefined || route.method === 'GET') throw new Error('no such write');
  const body = { ...asked, by: 'maria', why: 'tested' };
  return route.perform({
    parameter: (name) => (name === 'api' ? KEY.api : KEY.account),
    query: new URLSearchParams(),
    accept: undefined,
    body,
  });
}

const upgrade = (store: PinStore, version: string) => write('PUT', store, { version });
const rollBack = (store: PinStore) => write('POST', store, {});

describe('an upgrade beside a concurrent one', () => {
  it('is retried once from the new pin', async () => {
    const { answer, audit } = await upgrade(between([moved('2025-03-01', NOW - 1)]), '2026-03-01');
    expect(answer.status).toBe(200);
    expect(audit).toMatchObject({ before: { version: '2025-03-01' }, after: { version: '2026-03-01' } });
    expect(await pins.find(KEY)).toMatchObject({
      label: '2026-03-01',
      previous: { label: '2025-03-01', until: NOW + 72 * 3_600_000 },
    });
  });

  it('gets 409 if the other one leads to the same version', async () => {
    const { answer } = await upgrade(between([moved('2026-03-01', NOW - 1)]), '2026-03-01');
    expect(answer.status).toBe(409);
    expect(JSON.parse(answer.body)).toMatchObject({ message: expect.stringContaining('on 2026-03-01.') });
  });

  it('gets 409 after a second concurrent move', async () => {
    const others = [moved('2025-03-01', NOW - 2), moved('2025-03-01', NOW - 1)];
    const { answer, audit } = await upgrade(between(others), '2026-03-01');
    expect(answer.status).toBe(409);
    expect(JSON.parse(answer.body)).toEqual({
      error: 'Conflict',
      message: 'Another request moved this pin at the same time. Read it, then retry.',
    });
    expect(audit).not.toHaveProperty('after');
    expect(await pins.find(KEY)).toMatchObject({ label: '2025-03-01', since: NOW - 1 });
  });
});

describe('a pin on a version that the policy no longer has', () => {
  it('can be moved to any served version', async () => {
    await pins.claim(KEY, moved('2025-12-01', NOW - 1));
    const { answer } = await upgrade(pins, '2025-09-01');
    expect(answer.status).toBe(200);
    expect(await pins.find(KEY)).toMatchObject({ label: '2025-09-01' });
  });

  it('is not restored by a rollback', async () => {
    const previous = { label: '2025-12-01', until: NOW + 1 };
    await pins.claim(KEY, { ...moved('2026-03-01', NOW - 1), previous });
    const { answer } = await rollBack(pins);
    expect(answer.status).toBe(409);
    expect(JSON.parse(answer.body)).toMatchObject({
      message: expect.stringContaining('2025-12-01 is not served now'),
    });
  });
});

it('a creation day is refused if the API does not pin by it', async () => {
  const { answer } = await write('PUT', pins, { version: '2026-03-01', created: '2025-10-14' });
  expect(answer.status).toBe(422);
  expect(JSON.parse(answer.body)).toMatchObject({
    message: '"created": payments pins accounts without their creation day. Leave it out.',
  });
  expect(await pins.find(KEY)).toBeUndefined();
});
