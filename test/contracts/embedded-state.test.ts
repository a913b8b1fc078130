// Tests of the embedded store across kill -9, the end of its thread, and the exit of its process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type DataFolder, openDataFolder } from '../../gateway/stores/embedded/data-folder.ts';
import { openEmbeddedState } from '../../gateway/stores/embedded/embedded-state.ts';
import type { PersistentStores } from '../../gateway/stores/stores.ts';
import { onFault } from './lasting-stores.ts';
import { pauseFrom } from './override-store.ts';
import { pinOf } from './pin-store.ts';

const module = new URL('../../gateway/stores/embedded/embedded-state.ts', import.meta.url).href;
const away = { code: 'store_unavailable' };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sundial-embedded-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (): Promise<PersistentStores> =>
  openEmbeddedState(folder, { onState: () => undefined, onFault });

/** A process with the folder open; the script uses `state` and `pin`. */
function childOn(script: string) {
  const text = `import { openEmbeddedState } from ${JSON.stringify(module)};
    const state = await openEmbeddedState(process.argv[1], { onState() {}, onFault(error) { throw error; } });
    const pin = ${JSON.stringify(pinOf('v1'))};
    ${script}`;
  return spawn(process.execPath, ['--input-type=module', '-e', text, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

describe('acknowledged data', () => {
  it('survives kill -9 during writes', async () => {
    const child = childOn(`
      await state.overrides.put(${JSON.stringify(pauseFrom(1000, { id: 'kept' }))});
      await state.published.write([{ kind: 'policy', name: 'orders.yaml', text: 'api: orders' }], '');
      for (let n = 0; ; n++) {
        await state.pins.claim({ api: 'payments', account: String(n) }, pin);
        process.stdout.write(n + '\\n');
      }`);
    const ended = once(child, 'exit');
    let printed = '';
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        if (printed.split('\n').length > 50) resolve();
      });
      child.once('exit', () => resolve());
    });
    child.kill('SIGKILL');
    await ended;
    const last = Number(printed.trimEnd().split('\n').at(-1));
    expect(last).toBeGreaterThan(40);

    const state = await open();
    for (let n = 0; n <= last; n++)
      expect(await state.pins.find({ api: 'payments', account: String(n) }), String(n)).toEqual(pinOf('v1'));
    expect(state.overrides.current().map(({ id }) => id)).toEqual(['kept']);
    expect((await state.published.read()).entries).toEqual([
      { kind: 'policy', name: 'orders.yaml', text: 'api: orders' },
    ]);
    await state.close();
  });

  it('includes writes of calls made before the store was closed', async () => {
    const state = await open();
    const keys = Array.from({ length: 20 }, (_, index) => ({ api: 'payments', account: String(index) }));
    const claims = Promise.all(keys.map((key) => state.pins.claim(key, pinOf('v1'))));
    await Promise.all([state.close(), state.close()]);
    expect(await claims).toHaveLength(20);
    await expect(state.pins.claim({ api: 'payments', account: 'late' }, pinOf('v1'))).rejects.toMatchObject(
      away,
    );
    const again = await open();
    for (const key of keys) expect(await again.pins.find(key)).toEqual(pinOf('v1'));
    await again.close();
  });
});

describe('the process', () => {
  it.each([
    ['after close', 'await state.close();'],
    ['without close, when nothing else runs', ''],
  ])('exits %s', async (_when, script) => {
    const child = childOn(`await state.pins.claim({ api: 'payments', account: 'a' }, pin); ${script}`);
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it('stays alive until a pending call is answered', async () => {
    const child = childOn(
      `state.pins.claim({ api: 'payments', account: 'a' }, pin).then(() => process.stdout.write('done'));`,
    );
    const [printed] = await once(child.stdout, 'data');
    expect(String(printed)).toBe('done');
  });
});

describe('the database thread', () => {
  it('is restarted when it ends: running calls are rejected, and stored data is kept', async () => {
    const states: boolean[] = [];
    const faults: unknown[] = [];
    const held: DataFolder = await openDataFolder(folder, {
      onState: (up) => states.push(up),
      onFault: (error) => faults.push(error),
    });
    const { database } = held;
    await database.call('claimPin', 'key', 'kept');
    // The invalid argument ends the thread, as a bug of the gateway would.
    const mistaken = database.call('claimPin', 'other', { not: 'a text' } as unknown as string);
    await expect(mistaken).rejects.toMatchObject(away);
    expect(states).toEqual([true, false]);
    expect(faults).toEqual([expect.any(TypeError)]);
    await expect(database.call('findPin', 'key')).rejects.toMatchObject(away);

    await vi.waitFor(() => expect(states).toEqual([true, false, true]), { timeout: 20_000, interval: 20 });
    expect(await database.call('findPin', 'key')).toBe('kept');
    expect(await database.call('findPin', 'other')).toBeUndefined();
    await held.close();
  });

  it('is not restarted after close', async () => {
    const states: boolean[] = [];
    const held = await openDataFolder(folder, { onState: (up) => states.push(up), onFault: () => undefined });
    const mistaken = held.database.call('claimPin', 'other', { not: 'a text' } as unknown as string);
    await expect(mistaken).rejects.toMatchObject(away);
    await held.close();
    await (await open()).close();
    expect(states).toEqual([true, false]);
  });

  it('rolls back a batch it cannot write, reports the reason, and continues', async () => {
    const reasons = new Set<string>();
    const held = await openDataFolder(folder, {
      onState: () => undefined,
      onFault,
      onRefused: (reason) => reasons.add(reason),
    });
    const { database } = held;
    const batch = await Promise.allSettled([
      database.call('claimPin', 'good', 'x'),
      database.call('claimPin', 'bad', null as unknown as string),
    ]);
    expect(batch).toMatchObject([
      { status: 'rejected', reason: away },
      { status: 'rejected', reason: away },
    ]);
    expect([...reasons]).toEqual([expect.stringContaining('pin.pin')]);
    expect(await database.call('findPin', 'good')).toBeUndefined();
    expect(await database.call('claimPin', 'good', 'y')).toBe('y');
    await held.close();
  });
});
