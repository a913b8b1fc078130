// For `check`: reads the published history from the store of another process.
import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { PublishedEntry } from '../plan/published/record.ts';
import { StoreUnavailable } from '../policy/contract.ts';
import { DATABASE_FILE, isFileThere, toDataFolderError } from './embedded/data-folder.ts';
import { failureOf, OpenError } from './embedded/open-file.ts';
import { NewerSchemaError, requireKnown, schemaOf } from './embedded/schema.ts';
import { readPublished } from './published-text.ts';
import { connectRedis } from './redis/connect.ts';
import { readSharedPublished } from './redis/published.ts';
import type { StoreOptions } from './stores.ts';

const MAX_TRIES = 3;

/**
 * Why Sundial cannot start on a data folder: its path is a file, or a newer Sundial wrote its database. Else
 * undefined.
 */
export function unusableFolder(folder: string): string | undefined {
  const file = join(folder, DATABASE_FILE);
  try {
    requireKnown(schemaOf(file) ?? 0);
    return undefined;
  } catch (error) {
    if (isFileThere(error)) return toDataFolderError(folder, file, error).message;
    // A missing or unreadable file does not show which version wrote it.
    return error instanceof NewerSchemaError
      ? toDataFolderError(folder, file, new OpenError(failureOf(error))).message
      : undefined;
  }
}

/** @throws StoreUnavailable with a reason that contains no address */
export async function readPublishedFrom(store: StoreOptions['store']): Promise<readonly PublishedEntry[]> {
  if (store.kind === 'embedded') return readPublished(await embeddedText(store.folder));
  const connection = await connectRedis(store.url, { onState: () => undefined });
  try {
    if (!connection.ready) throw new StoreUnavailable(connection.problem ?? 'it does not answer');
    return (await readSharedPublished(connection)()).entries;
  } finally {
    connection.close();
  }
}

async function embeddedText(folder: string): Promise<string | undefined> {
  const copies = await mkdtemp(join(tmpdir(), 'sundial-store-'));
  try {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const text = await textOfCopy(join(folder, DATABASE_FILE), join(copies, `${tries}.db`));
      if (text !== CHANGED) return text;
    }
    throw new StoreUnavailable('a gateway is writing to it: use --live to ask that gateway');
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    throw new StoreUnavailable(reasonOf(error));
  } finally {
    await rm(copies, { recursive: true, force: true });
  }
}

const CHANGED = Symbol('the files changed while they were copied');

async function textOfCopy(file: string, copy: string): Promise<string | undefined | typeof CHANGED> {
  const files = [
    [file, copy],
    [`${file}-wal`, `${copy}-wal`],
  ] as const;
  const before = await Promise.all(files.map(([from]) => stateOf(from)));
  if (before[0] === '') return undefined;
  for (const [index, [from, to]] of files.entries()) if (before[index] !== '') await copyFile(from, to);
  const after = await Promise.all(files.map(([from]) => stateOf(from)));
  if (after.join() !== before.join()) return CHANGED;
  using database = new DatabaseSync(copy);
  const found = database.prepare('SELECT files FROM published').get()?.files;
  return typeof found === 'string' ? found : undefined;
}

/** '' for a missing file. */
async function stateOf(file: string): Promise<string> {
  try {
    const { size, mtimeMs, ino } = await stat(file);
    return `${ino} ${size} ${mtimeMs}`;
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'ENOENT') return '';
    throw error;
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  return error instanceof Error && code === 'ERR_SQLITE_ERROR'
    ? error.message
    : `cannot be read (${String(code)})`;
}
