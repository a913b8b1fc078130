// Options of a sample service with a database, and the start and end of its parts.
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from './database.ts';
import { startSender } from './event-sender.ts';
import { createKeyTable } from './idempotency-keys.ts';
import type { ListenOptions, Service } from './listen.ts';
import { createOutboxTable, NO_OUTBOX, type Outbox, openOutbox } from './outbox.ts';

export interface StoredOptions extends ListenOptions {
  /** Folder of its file; absent: in memory only. */
  readonly dataFolder?: string | undefined;
  /** URL that takes events; absent: no events are sent. */
  readonly intake?: string | undefined;
  /** Milliseconds since 1970; default: the system clock. */
  readonly now?: () => number;
  /** Returns a unique text; default: a random one. */
  readonly newId?: () => string;
}

export interface Stored {
  readonly database: DatabaseSync;
  readonly outbox: Outbox;
  readonly now: () => number;
  /** Closes outbox and database after the service, also if the service cannot start. */
  readonly closeWith: (starting: Promise<Service>) => Promise<Service>;
}

/** `name`: of the service, its file and its log lines. `fill` creates its own tables and first rows. */
export function openStored(
  { dataFolder, intake, now = Date.now, newId = randomUUID }: StoredOptions,
  name: string,
  fill: (database: DatabaseSync) => void,
): Stored {
  const database = openDatabase({
    dataFolder,
    name: `${name}.db`,
    fill: (empty) => {
      createOutboxTable(empty);
      createKeyTable(empty);
      fill(empty);
    },
  });
  const queue = openOutbox(database, () => `evt_${newId()}`);
  const report = (line: string) => void process.stderr.write(`${name}: ${line}\n`);
  const sender = intake === undefined ? undefined : startSender({ queue, intake, now, report });
  return {
    database,
    outbox: sender === undefined ? NO_OUTBOX : { put: queue.put, wake: sender.wake },
    now,
    closeWith: async (starting) => {
      const end = async () => {
        await sender?.close();
        database.close();
      };
      const { close, ...service } = await starting.catch(async (error: unknown) => {
        await end();
        throw error;
      });
      return { ...service, close: () => close().then(end) };
    },
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads SUNDIAL_DATA, default ./data, and SUNDIAL_INTAKE. @throws Error with a sentence if SUNDIAL_INTAKE is not an http URL */
export function storedOptionsOf(environment: Environment): Pick<StoredOptions, 'dataFolder' | 'intake'> {
  const intake = environment.SUNDIAL_INTAKE || undefined;
  if (intake !== undefined && !/^https?:$/.test(URL.parse(intake)?.protocol ?? ''))
    throw new Error(`SUNDIAL_INTAKE must be an http or https URL, not "${intake}"`);
  return { dataFolder: resolve(environment.SUNDIAL_DATA || './data'), intake };
}
