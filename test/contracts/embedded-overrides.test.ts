// Tests of overrides in this process after the disk was too slow to acknowledge a write.
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, vi } from 'vitest';
import { createBatches, type Database } from '../../gateway/stores/embedded/database.ts';
import { openOverrides } from '../../gateway/stores/embedded/embedded-state.ts';
import { type Call, createOperations, type Operations } from '../../gateway/stores/embedded/operations.ts';
import { migrate } from '../../gateway/stores/embedded/schema.ts';
import { onFault } from './lasting-stores.ts';
import { pauseFrom } from './override-store.ts';

const away = { code: 'store_unavailable' };

/** The real tables and batches on a disk that hangs between `hang` and `goOn`. */
function hangingDatabase() {
  const file = new DatabaseSync(':memory:');
  migrate(file);
  const operations = createOperations(file);
  let answering = Promise.withResolvers<void>();
  answering.resolve();
  const run = async (calls: readonly Call[]): Promise<readonly unknown[]> => {
    await answering.promise;
    return calls.map(({ name, args }) =>
      (operations[name] as (...given: readonly unknown[]) => unknown)(...args),
    );
  };
  const { add, settled } = createBatches(run, { answerWithinMs: 5 });
  const call = async <N extends keyof Operations>(name: N, ...args: Parameters<Operations[N]>) =>
    (await add({ name, args } as Call)) as ReturnType<Operations[N]>;
  const database: Pick<Database, 'call' | 'settled'> = { call, settled };
  return {
    database,
    hang: () => {
      answering = Promise.withResolvers<void>();
    },
    goOn: () => answering.resolve(),
  };
}

describe('a pause whose write timed out', () => {
  it('is in force if it was stored after all', async () => {
    const { database, hang, goOn } = hangingDatabase();
    const overrides = await openOverrides(database, onFault);
    const pause = pauseFrom(1000);
    hang();
    await expect(overrides.put(pause)).rejects.toMatchObject(away);
    expect(overrides.current()).toEqual([]);
    goOn();
    await vi.waitFor(() => expect(overrides.current()).toEqual([pause]), { timeout: 20_000 });
  });

  it('is removed if it was deleted after all', async () => {
    const { database, hang, goOn } = hangingDatabase();
    const overrides = await openOverrides(database, onFault);
    const pause = pauseFrom(1000);
    await overrides.put(pause);
    hang();
    await expect(overrides.remove(pause.id)).rejects.toMatchObject(away);
    expect(overrides.current()).toEqual([pause]);
    goOn();
    await vi.waitFor(() => expect(overrides.current()).toEqual([]), { timeout: 20_000 });
  });
});
