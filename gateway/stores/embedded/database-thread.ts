// The thread that alone opens sundial.db and holds its lock: what it answers has been synced to the disk.
import { statSync } from 'node:fs';
import { backup, type DatabaseSync } from 'node:sqlite';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { failureOf, type OpenFailure, openFile, primaryCode } from './open-file.ts';
import { type Call, createOperations, type Operations } from './operations.ts';

export interface ThreadStart {
  readonly file: string;
  /** The file that an earlier thread had open, and no other; undefined: whichever is there. */
  readonly identity: string | undefined;
}

export type ThreadMessage =
  | { readonly kind: 'ready'; readonly identity: string | undefined }
  | { readonly kind: 'failed'; readonly failure: OpenFailure }
  | { readonly kind: 'done'; readonly results: readonly unknown[] }
  /** Nothing of the batch was kept. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** `failed`: why there is no backup. */
  | { readonly kind: 'backup'; readonly failed: string | undefined };

/** What the thread is asked: a batch, a backup into this file, or its end. */
export type ThreadOrder = readonly Call[] | { readonly backup: string } | 'close';

/** Copied at once, in pages of 4 KiB: other calls wait for no more than a few milliseconds. */
const BACKUP_PAGES = 64;

interface HeldFiles {
  /** The first of the database and the log beside it that was removed, replaced or written by another since `after`. */
  readonly before: () => string | undefined;
  /** The first that was removed or replaced since it was first seen; what was written of the others was written here. */
  readonly after: () => string | undefined;
}

interface FileState {
  readonly identity: string;
  readonly size: bigint;
}

/** What the process knows was read from another file. */
class GoneError extends Error {
  constructor(file: string) {
    super(`${file} is not there as it was: put it back, or start the gateway again to go on without it`);
  }
}

function run(database: DatabaseSync, operations: Operations, calls: readonly Call[]): ThreadMessage {
  try {
    database.exec('BEGIN IMMEDIATE');
    const results = calls.map(({ name, args }) => {
      const operation = operations[name] as (...given: readonly unknown[]) => unknown;
      return operation(...args);
    });
    database.exec('COMMIT');
    return { kind: 'done', results };
  } catch (error) {
    // A mistake in this program ends the thread: thread.ts tells of it.
    if (primaryCode(error) === undefined) throw error;
    if (database.isTransaction) database.exec('ROLLBACK');
    return { kind: 'refused', reason: error instanceof Error ? error.message : String(error) };
  }
}

function serve(port: MessagePort, { file, identity }: ThreadStart): void {
  const say = (message: ThreadMessage): void => port.postMessage(message);
  let database: DatabaseSync;
  let operations: Operations;
  try {
    if (identity !== undefined && identity !== identityOf(file)) throw new GoneError(file);
    database = openFile(file);
    operations = createOperations(database);
  } catch (error) {
    say({ kind: 'failed', failure: failureOf(error) });
    return;
  }
  const held = holdFiles(file);
  let copying = Promise.resolve();
  const copy = async (into: string): Promise<void> => {
    const failed = await backup(database, into, { rate: BACKUP_PAGES }).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    say({ kind: 'backup', failed });
  };
  const end = (): void => {
    database.close();
    port.close();
  };
  port.on('message', (order: ThreadOrder) => {
    if (order === 'close') void copying.then(end);
    else if ('backup' in order) copying = copy(order.backup);
    else {
      const giveUp = (lost: string): never => {
        database.close();
        throw new Error(`${lost} was removed or replaced while it was open`);
      };
      const lostBefore = held.before();
      if (lostBefore !== undefined) return giveUp(lostBefore);
      const message = run(database, operations, order);
      const lost = held.after();
      if (lost !== undefined) return giveUp(lost);
      say(message);
    }
  });
  say({ kind: 'ready', identity: identityOf(file) });
}

/** What tells one file from another under the same name; undefined where there is none. */
function identityOf(path: string): string | undefined {
  return fileStateOf(path)?.identity;
}

/** SQLite would go on writing to a file that was removed, or whose pages another process wrote. */
function holdFiles(file: string): HeldFiles {
  // The log comes with the first write and goes when the database is closed.
  const paths = [file, `${file}-wal`];
  const left = new Map<string, FileState>();
  const isAnother = (path: string, found: FileState | undefined): boolean => {
    const known = left.get(path);
    return known !== undefined && known.identity !== found?.identity;
  };
  const after = (): string | undefined => {
    const looks = paths.map((path) => [path, fileStateOf(path)] as const);
    const lost = looks.find(([path, found]) => isAnother(path, found));
    if (lost !== undefined) return lost[0];
    for (const [path, found] of looks) if (found !== undefined) left.set(path, found);
    return undefined;
  };
  after();
  return {
    before: () =>
      paths.find((path) => {
        const found = fileStateOf(path);
        return isAnother(path, found) || (left.has(path) && found?.size !== left.get(path)?.size);
      }),
    after,
  };
}

function fileStateOf(path: string): FileState | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && { identity: `${found.dev}:${found.ino}`, size: found.size };
}

if (parentPort !== null) serve(parentPort, workerData);
