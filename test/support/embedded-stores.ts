// Opens the stores of one gateway in a temporary data folder.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStores } from '../../gateway/stores/open-stores.ts';
import type { Stores } from '../../gateway/stores/stores.ts';

export interface EmbeddedStores extends AsyncDisposable {
  readonly stores: Stores;
}

/** A fault of the store ends the test process, because nothing else would show it. */
export async function openEmbeddedStores(): Promise<EmbeddedStores> {
  const stack = new AsyncDisposableStack();
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'sundial-stores-')), (path) =>
    rm(path, { recursive: true }),
  );
  const stores = stack.adopt(
    await openStores({
      store: { kind: 'embedded', folder },
      replicas: 1,
      monotonic: () => performance.now(),
      onState: () => undefined,
      onFault: (error) => {
        throw error;
      },
    }),
    (opened) => opened.close(),
  );
  return { stores, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
