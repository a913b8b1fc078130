// The thread that opens and locks sundial.db. It answers after the data has been synced to the disk.
import { statSync } from 'node:fs';
import { backup, type DatabaseSync } from 'node:sqlite';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { failureOf, type OpenFailure, openFile, primaryCode } from './open-file.ts';
import { type Call, createOperations, type Operations } from './operations.ts';

export interface ThreadStart {
  readonly file: string;
  /** Identity of the file that an earlier thread had open; undefined: any file is accepted. */
  readonly identity: string | undefined;
}

export type ThreadMessage =
  | { readonly kind: 'ready'; readonly identity: string | undefined }
  | { readonly kind: 'failed'; readonly failure: OpenFailure }
  | { readonly kind: 'done'; readonly results: readonly unknown[] }
  /** The whole batch was rolled back. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** `failed`: why there is no backup. */
  | { readonly kind: 'backup'; readonly failed: string | undefined };

export type ThreadRequest = readonly Call[] | { readonly backup: string } | 'close';

/** Pages of 4 KiB copied per step: other calls wait for a few milliseconds at most. */
const BACKUP_PAGES = 64;

interface FileWatch {
  /**
   * The first file (database or log) that was removed, replaced or written by another process since `after`.
   */
  readonly before: () => string | undefined;
  /**
   * The first file that was removed or replaced since it was first seen. Other changes come from this thread.
   */
  readonly after: () => string | undefined;
}

interface FileState {
  readonly identity: string;
  readonly size: bigint;
}

/** The process holds state from another file of the same name. */
class FileReplacedError extends Error {
  constructor(file: string) {
    super(`${file} was removed or replaced: put it back, or restart the gateway to continue without it`);
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
    // A TypeError is a bug in a call. It ends the thread, and thread.ts reports it.
    if (primaryCode(error) === undefined) throw error;
    if (database.isTransaction) database.exec('ROLLBACK');
    return { kind: 'refused', reason: error instanceof Error ? error.message : String(error) };
  }
}

function serve(port: MessagePort, { file, identity }: ThreadStart): void {
  const send = (message: ThreadMessage): void => port.postMessage(message);
  let database: DatabaseSync;
  let operations: Operations;
  try {
    if (identity !== undefined && identity !== identityOf(file)) throw new FileReplacedError(file);
    database = openFile(file);
    operations = createOperations(database);
  } catch (error) {
    send({ kind: 'failed', failure: failureOf(error) });
    return;
  }
  const watch = watchFiles(file);
  let backupDone = Promise.resolve();
  const makeBackup = async (into: string): Promise<void> => {
    const failed = await backup(database, into, { rate: BACKUP_PAGES }).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    send({ kind: 'backup', failed });
  };
  const end = (): void => {
    database.close();
    port.close();
  };
  port.on('message', (request: ThreadRequest) => {
    if (request === 'close') void backupDone.then(end);
    else if ('backup' in request) backupDone = makeBackup(request.backup);
    else {
      const fail = (lost: string): never => {
        database.close();
        throw new Error(`${lost} was removed or replaced while it was open`);
      };
      const changedBefore = watch.before();
      if (changedBefore !== undefined) return fail(changedBefore);
      const message = run(database, operations, request);
      const lost = watch.after();
      if (lost !== undefined) return fail(lost);
      send(message);
    }
  });
  send({ kind: 'ready', identity: identityOf(file) });
}

/** Device and inode, which distinguish files of the same name; undefined if there is no file. */
function identityOf(path: string): string | undefined {
  return fileStateOf(path)?.identity;
}

/**
 * Detects a file that was removed, or whose pages another process wrote: SQLite would go on writing to it.
 */
function watchFiles(file: string): FileWatch {
  // SQLite creates the log at the first write and deletes it when the database is closed.
  const paths = [file, `${file}-wal`];
  const lastSeen = new Map<string, FileState>();
  const isAnother = (path: string, found: FileState | undefined): boolean => {
    const known = lastSeen.get(path);
    return known !== undefined && known.identity !== found?.identity;
  };
  const after = (): string | undefined => {
    const states = paths.map((path) => [path, fileStateOf(path)] as const);
    const lost = states.find(([path, found]) => isAnother(path, found));
    if (lost !== undefined) return lost[0];
    for (const [path, found] of states) if (found !== undefined) lastSeen.set(path, found);
    return undefined;
  };
  after();
  return {
    before: () =>
      paths.find((path) => {
        const found = fileStateOf(path);
        return isAnother(path, found) || (lastSeen.has(path) && found?.size !== lastSeen.get(path)?.size);
      }),
    after,
  };
}

function fileStateOf(path: string): FileState | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && { identity: `${found.dev}:${found.ino}`, size: found.size };
}

if (parentPort !== null) serve(parentPort, workerData);
