// Keeps the last known overrides in the data folder, for a start while Redis is unavailable or empty.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../system/make-folder.ts';
import { withoutLogin } from '../redis-address.ts';
import { isStoredObject, storedValue } from '../stored-json.ts';

export interface LastKnown {
  /** The name of the data that the overrides were read from. */
  readonly origin: string;
  readonly overrides: readonly string[];
}

export interface LastKnownFile {
  /** Undefined if nothing is known of this Redis. */
  readonly read: () => LastKnown | undefined;
  /** Calls during a write are merged into the next write. Never rejects. */
  readonly write: (known: LastKnown) => void;
  readonly settled: () => Promise<void>;
}

const FILE = 'redis-pauses.json';

/**
 * `url` identifies the Redis; its password is not stored. `onFault` is called once if the file cannot be
 * used.
 */
export function openLastKnown(folder: string, url: string, onFault: (error: unknown) => void): LastKnownFile {
  const file = join(folder, FILE);
  const store = withoutLogin(url).replace(/^.*?:\/\//, '');
  let next: LastKnown | undefined;
  let writing: Promise<void> | undefined;
  let reported = false;

  const reportOnce = (error: unknown): void => {
    if (!reported) onFault(error);
    reported = true;
  };
  const writeAll = async (): Promise<void> => {
    while (next !== undefined) {
      const text = JSON.stringify({ store, ...next });
      next = undefined;
      try {
        await makeFolder(folder, { mode: 0o700 });
        await replaceFile(file, text);
      } catch (error) {
        reportOnce(error);
      }
    }
    writing = undefined;
  };

  return {
    read: () => {
      const text = textOf(file, reportOnce);
      if (text === undefined) return undefined;
      const stored = storedValue(text);
      if (!isStoredObject(stored) || typeof stored.store !== 'string' || !isLastKnown(stored)) {
        reportOnce(new Error(`${file} is unreadable and will be replaced`));
        return undefined;
      }
      return stored.store === store ? stored : undefined;
    },
    write: (known) => {
      next = known;
      writing ??= writeAll();
    },
    settled: async () => {
      await writing;
    },
  };
}

/** Writes a temporary file and renames it, so that no reader sees a partial file. */
async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}`;
  try {
    await writeFile(temporary, text, { mode: 0o600, flush: true });
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

function textOf(file: string, reportOnce: (error: unknown) => void): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) reportOnce(error);
    return undefined;
  }
}

function isLastKnown(stored: object): stored is LastKnown {
  const { origin, overrides } = stored as Readonly<Record<string, unknown>>;
  return (
    typeof origin === 'string' &&
    Array.isArray(overrides) &&
    overrides.every((text) => typeof text === 'string')
  );
}
