// Tests of the ledger in sundial.db with invalid numbers, from other programs or bit errors.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { usageWindow } from '../../gateway/policy/usage/window.ts';
import { openEmbeddedState } from '../../gateway/stores/embedded/embedded-state.ts';
import type { PersistentStores } from '../../gateway/stores/stores.ts';
import { NOW } from '../support/exchange-samples.ts';
import { onFault } from './lasting-stores.ts';
import { everyRecord, newWriter, usageOf } from './ledger-store.ts';

const MAX = 2n ** 63n - 1n;
const [acme, zeta] = [usageOf(), usageOf({ consumer: 'zeta' })];
const watched = [{ api: 'orders', version: 'v1' }];
const place = { after: undefined, limit: 10 };

let folder: string;
let state: PersistentStores;
const open = () => openEmbeddedState(folder, { onState: () => undefined, onFault });
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sundial-ledger-'));
  state = await open();
});
afterEach(async () => {
  await state.close();
  rmSync(folder, { recursive: true, force: true });
});

it.each<[string, string, bigint[]]>([
  ['first call', "UPDATE usage SET first_at = ? WHERE consumer = 'acme'", [2n ** 53n, MAX, -MAX]],
  ['last call', "UPDATE usage SET last_at = ? WHERE consumer = 'acme'", [2n ** 53n, MAX, -MAX]],
  ['day', 'UPDATE usage_day SET day = ? WHERE record = 1', [2n ** 53n, MAX]],
  ['count', 'UPDATE usage_day SET calls = ? WHERE record = 1', [2n ** 53n, MAX, -MAX]],
  ['number', `UPDATE usage SET id = 1 + ?1 WHERE consumer = 'acme'`, [MAX - 1n]],
])('a record with an invalid %s does not affect other consumers', async (_what, damage, values) => {
  for (const value of values) {
    const batch = newWriter();
    await state.ledger.add(batch([acme, zeta], { watched }));
    await state.close();
    const file = new DatabaseSync(join(folder, 'sundial.db'));
    file.prepare(damage).run(value);
    file.close();
    state = await open();
    const { ledger } = state;

    const window = usageWindow(NOW, '2026-10-30');
    const others = ({ consumer }: { readonly consumer: string }) => consumer === 'zeta';
    expect((await everyRecord(ledger)).filter(others)).toEqual([zeta]);
    expect((await ledger.count({}, window, place)).records.filter(others)).toHaveLength(1);
    await ledger.firstSeen(acme);
    expect(await ledger.firstSeen(zeta)).toEqual({ at: NOW, countedSince: NOW });
    // The ledger still counts all consumers.
    const more = usageOf({ consumer: 'third' });
    await ledger.add(batch([acme, zeta, more]));
    const calls = (await everyRecord(ledger)).map(({ consumer, callsByDay }) => [consumer, callsByDay]);
    expect(calls).toContainEqual(['zeta', { '2026-11-20': 2 }]);
    expect(calls).toContainEqual(['third', { '2026-11-20': 1 }]);
    expect(await ledger.erase('acme')).toBe(1);
    expect(await ledger.erase('acme')).toBe(0);
    await ledger.sweep('9999-12-31');
    expect(await everyRecord(ledger)).toEqual([]);
  }
});

it('a start of counting or a batch number that is too large is ignored', async () => {
  const batch = newWriter();
  const watching = { watched: [...watched, { api: 'orders', version: 'v2' }] };
  await state.ledger.add(batch([acme], watching));
  for (const value of [MAX, -MAX, 2n ** 53n]) {
    await state.close();
    const file = new DatabaseSync(join(folder, 'sundial.db'));
    file.prepare("UPDATE usage_watch SET since = ? WHERE version = 'v1'").run(value);
    file.prepare('UPDATE usage_writer SET number = ?, at = ?').run(value, value);
    file.close();
    state = await open();
    expect(await state.ledger.beganAt({ api: 'orders', version: 'v1' })).toBeUndefined();
    expect(await state.ledger.beganAt()).toBe(NOW);
    expect((await state.ledger.firstSeen(acme)).countedSince).toBeUndefined();
    await state.ledger.add(batch([acme], watching));
  }
  expect(await everyRecord(state.ledger)).toMatchObject([{ callsByDay: { '2026-11-20': 4 } }]);
});
