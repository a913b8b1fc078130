// Tests of data folders as each earlier schema wrote them: opened, migrated and read.
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbeddedState } from '../../gateway/stores/embedded/embedded-state.ts';
import { schemaOf } from '../../gateway/stores/embedded/schema.ts';
import { onFault } from './lasting-stores.ts';
import { everyRecord } from './ledger-store.ts';
import { pinOf } from './pin-store.ts';

const FILES = join(import.meta.dirname, 'data-folders');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sundial-formats-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const files = readdirSync(FILES).sort();

describe('a data folder of an earlier release', () => {
  it('exists for each schema up to the present one', async () => {
    const { close } = await openEmbeddedState(folder, { onState: () => undefined, onFault });
    await close();
    const today = schemaOf(join(folder, 'sundial.db')) ?? 0;
    expect(files).toEqual(Array.from({ length: today }, (_, before) => `schema-${before + 1}.db`));
  });

  it.each(files)('%s is opened with all its data and can be written', async (name) => {
    const schema = Number(/\d+/.exec(name)?.[0]);
    expect(schemaOf(join(FILES, name))).toBe(schema);
    copyFileSync(join(FILES, name), join(folder, 'sundial.db'));
    const state = await openEmbeddedState(folder, { onState: () => undefined, onFault });
    try {
      expect(await state.pins.find({ api: 'payments', account: 'acme' })).toMatchObject({ label: 'v1' });
      expect(state.overrides.current()).toMatchObject([{ id: 'pause-1', api: 'orders', label: 'v1' }]);
      expect((await state.published.read()).entries).toMatchObject([{ name: 'orders.yaml' }]);
      expect(await everyRecord(state.ledger)).toMatchObject(
        schema < 2 ? [] : [{ consumer: 'acme', version: 'v1', callsByDay: { '2026-11-20': 3 } }],
      );
      expect(await state.keys.list()).toMatchObject(
        schema < 3 ? [] : [{ id: 'k1k1k1k1k1k1', consumer: 'acme' }],
      );
      const notice = 'orders/v1/sunset-30d';
      expect(await state.announced.find([notice])).toEqual([schema < 5 ? undefined : 'sent']);
      await state.announced.keep(notice, 'sent');
      await state.pins.claim({ api: 'payments', account: 'new' }, pinOf('v2'));
      expect(await state.announced.find([notice])).toEqual(['sent']);
    } finally {
      await state.close();
    }
  });
});
