// The retirement guard on a real store: what it reads, stores and reports, and when it checks.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GuardReport, openRetirementGuard } from '../../gateway/admin/retirement-guard.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import { type EpochMs, StoreUnavailable } from '../../gateway/policy/contract.ts';
import type { Hold } from '../../gateway/policy/lifecycle/override.ts';
import type { LedgerStore } from '../../gateway/policy/usage/ledger.ts';
import { openEmbeddedState } from '../../gateway/stores/embedded/embedded-state.ts';
import type { PersistentStores } from '../../gateway/stores/stores.ts';
import { planOf } from '../plan/workspace.ts';
import { ordersPolicy } from '../support/orders-policy.ts';

const SUNSET = Date.UTC(2027, 0, 15);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const policy = (onExceed: string, more = '') =>
  ordersPolicy(
    `  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15
    successor: v2
    retire_when: { consumers_below: 2, calls_below: 100/30d, on_exceed: ${onExceed} }
  v2: { released: 2025-01-01 }
`,
    { more },
  );

let folder: string;
let stores: PersistentStores;
let now: EpochMs;
let said: string[];
let held: (readonly [Hold, Hold | undefined])[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sundial-guard-'));
  stores = await openEmbeddedState(folder, {
    onState: () => undefined,
    onFault: (error) => {
      throw error;
    },
  });
  [now, said, held] = [SUNSET - 12 * HOUR, [], []];
});
afterEach(async () => {
  await stores.close();
  rmSync(folder, { recursive: true });
});

/** Calls of this many consumers, ten each on the day before the sunset. The ledger began long before. */
const called = (consumers: number) =>
  stores.ledger.add({
    writer: 'w',
    number: 1,
    at: Date.UTC(2026, 0, 15),
    watched: [{ api: 'orders', version: 'v1' }],
    records: Array.from({ length: consumers }, (_, index) => ({
      consumer: `c${index}`,
      via: 'token' as const,
      api: 'orders',
      version: 'v1',
      operation: undefined,
      firstAt: SUNSET - DAY,
      lastAt: SUNSET - DAY,
      callsByDay: { '2027-01-14': 10 },
      agents: [],
      sample: undefined,
    })),
  });

async function guard(
  text: string,
  changes: {
    plan?: () => GatewayPlan;
    ledger?: Pick<LedgerStore, 'count' | 'beganAt'>;
    monotonic?: () => number;
    keptFrom?: () => number;
  } = {},
) {
  const first = changes.plan?.() ?? (await planOf(text));
  const report: GuardReport = {
    onJudged: (version, { kind }) => said.push(`${version.label} ${kind}`),
    onHeld: (hold, before) => held.push([hold, before]),
    onGoing: (version, _sunset, usage) => said.push(`${version.label} goes: ${usage}`),
    onAway: (version, { message }) => said.push(`${version.label} ${message}`),
    onFault: (error) => {
      throw error;
    },
  };
  const ports = {
    plan: () => first,
    ledger: stores.ledger,
    monotonic: () => 0,
    keptFrom: () => undefined,
    ...changes,
  };
  const opened = openRetirementGuard({
    ...ports,
    now: () => now,
    overrides: stores.overrides,
    report,
  });
  // Waits for the check that the guard starts when it opens.
  await opened.look();
  return opened;
}

describe('a version with too many calls', () => {
  it('is held once by two guards, and its hold is extended before it expires', async () => {
    await called(3);
    await using stack = new AsyncDisposableStack();
    const one = stack.adopt(await guard(policy('hold')), (each) => each.close());
    stack.adopt(await guard(policy('hold')), (each) => each.close());
    expect(stores.overrides.current()).toMatchObject([
      { kind: 'hold', id: 'guard-orders-v1', from: now, until: SUNSET + 72 * HOUR, author: 'guard' },
    ]);
    expect(held).toHaveLength(1);
    expect(held[0]?.[0].reason).toBe(
      '3 consumers, 30 calls in 30 days; to be retired below 2 consumers and 100 calls in 30 days',
    );
    now = SUNSET + 25 * HOUR;
    await one.look();
    expect(held[1]?.[1]?.until).toBe(SUNSET + 72 * HOUR);
    expect(stores.overrides.current()).toMatchObject([{ until: SUNSET + 97 * HOUR }]);
    await stack.disposeAsync();
    expect(said).toEqual(['v1 exceeded', 'v1 exceeded', 'v1 exceeded']);
  });

  it('is held at its published sunset while an extension is not announced', async () => {
    await called(3);
    await using stack = new AsyncDisposableStack();
    const later = policy('hold').replace(
      'successor: v2',
      'extended: [{ to: 2027-04-15, announced: "2027-01-14T18:00:00Z" }]\n    successor: v2',
    );
    stack.adopt(await guard(later), (each) => each.close());
    expect(stores.overrides.current()).toMatchObject([{ kind: 'hold', until: SUNSET + 72 * HOUR }]);
    await stack.disposeAsync();
  });

  it('gets a removed hold again before its sunset, unless on_exceed is warn', async () => {
    await called(3);
    let plan = await planOf(policy('hold'));
    const { look, close } = await guard('', { plan: () => plan });
    const ended = async () => {
      expect(await stores.overrides.remove('guard-orders-v1')).toBe(true);
      await look();
      return stores.overrides.current().length;
    };
    expect(await ended()).toBe(1);
    plan = await planOf(policy('warn'));
    await look();
    expect(stores.overrides.current(), 'an existing hold stays').toHaveLength(1);
    expect(await ended()).toBe(0);
    now = SUNSET;
    plan = await planOf(policy('hold'));
    await look();
    expect(stores.overrides.current(), 'an ended version is not revived').toEqual([]);
    expect(said.filter((text) => text.includes('goes'))).toHaveLength(1);
    await close();
  });

  it.each([
    ['on_exceed is warn', policy('warn'), ['v1 exceeded', 'v1 goes: 3 consumers, 30 calls in 30 days']],
    ['the API is in observe mode', policy('hold', 'mode: observe\n'), ['v1 exceeded']],
  ])('is not held if %s', async (_title, text, expected) => {
    await called(3);
    const { close } = await guard(text);
    await close();
    expect(stores.overrides.current()).toEqual([]);
    expect(said).toEqual(expected);
  });

  it('is reported as ending once a day, from thirty days before its sunset to that day', async () => {
    await called(3);
    now = SUNSET - 29.5 * DAY;
    const { look, close } = await guard(policy('warn').replace('100/30d', '100/60d'));
    expect(said).toEqual(['v1 exceeded', 'v1 goes: 3 consumers, 30 calls in 60 days']);
    await look();
    now = SUNSET + HOUR;
    await look();
    await look();
    now = SUNSET + 2 * DAY;
    await look();
    expect(said.filter((text) => text.includes('goes'))).toHaveLength(2);
    await close();
  });
});

it('a version with few calls is not held, and is reported as ready to retire', async () => {
  await called(1);
  const { close } = await guard(policy('hold'));
  await close();
  expect([stores.overrides.current(), said]).toEqual([[], ['v1 met']]);
});

it('a version is not reported as ready if its rule counts more days than the ledger keeps', async () => {
  await called(1);
  for (const [days, verdict] of [
    [29, 'v1 unknown'],
    [30, 'v1 met'],
  ] as const) {
    const { close } = await guard(policy('hold'), { keptFrom: () => now - days * DAY });
    await close();
    expect(said.pop()).toBe(verdict);
  }
});

it('an unavailable store is reported, and the verdict becomes unknown', async () => {
  const away = () => Promise.reject(new StoreUnavailable('away'));
  const { close } = await guard(policy('hold'), { ledger: { count: away, beganAt: away } });
  await close();
  expect([stores.overrides.current(), said]).toEqual([[], ['v1 unknown', 'v1 away']]);
});

it('far from a sunset the ledger is read once an hour, near it at every check', async () => {
  let reads = 0;
  let clock = 0;
  const { count, beganAt } = stores.ledger;
  const ledger: Pick<LedgerStore, 'count' | 'beganAt'> = {
    beganAt,
    count: (...asked) => {
      reads += 1;
      return count(...asked);
    },
  };
  now = SUNSET - 10 * DAY;
  const { look, close } = await guard(policy('hold'), { ledger, monotonic: () => clock });
  clock = 59 * 60_000;
  await look();
  expect(reads).toBe(1);
  clock = 60 * 60_000;
  await look();
  expect(reads).toBe(2);
  now = SUNSET - DAY;
  await look();
  await look();
  expect(reads).toBe(4);
  await close();
});
