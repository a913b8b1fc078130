// Overrides in the data folder, held in memory as the file has them, also when the disk was too slow to say so.
// Part of embedded-state.ts.
import { StoreUnavailable } from '../../policy/contract.ts';
import type { Override, OverrideStore } from '../../policy/lifecycle/override.ts';
import { inOrder, readOverrides, writeOverride } from '../override-text.ts';
import type { Database } from './database.ts';

/**
 * `onChange` is told of them whenever they change; who changes them waits for it.
 * @throws StoreUnavailable when they cannot be read at first
 */
export async function openOverrides(
  database: Pick<Database, 'call' | 'settled'>,
  onFault: (error: unknown) => void,
  onChange: (overrides: readonly Override[]) => Promise<void> | void = () => undefined,
): Promise<OverrideStore> {
  const read = async () => readOverrides(await database.call('allOverrides'), onFault);
  let current = await read();
  const set = (next: readonly Override[]): Promise<void> | void => {
    current = next;
    return onChange(current);
  };
  const without = (id: string): readonly Override[] => current.filter((each) => each.id !== id);

  /** What was given up may happen all the same: once the disk answers, the file says whether it has. */
  const lookAgain = async (): Promise<void> => {
    try {
      await database.settled();
      await set(await read());
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) onFault(error);
    }
  };
  const change = async <T>(done: Promise<T>): Promise<T> => {
    try {
      return await done;
    } catch (error) {
      void lookAgain();
      throw error;
    }
  };

  return {
    current: () => current,
    wasRead: () => true,
    put: async (override) => {
      await change(database.call('putOverride', override.id, writeOverride(override)));
      await set(inOrder([...without(override.id), override]));
    },
    remove: async (id) => {
      const removed = await change(database.call('removeOverride', id));
      if (removed) await set(without(id));
      return removed;
    },
  };
}
