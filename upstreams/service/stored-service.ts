// What a sample service with a database is started with, and how its parts begin and end together.
// Called by the services' own start functions; main.ts files fill it from the environment.
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from './database.ts';
import { startSender } from './event-sender.ts';
import { createKeyTable } from './idempotency-keys.ts';
import type { ListenOptions, Service } from './listen.ts';
import { createOutboxTable, NO_OUTBOX, type Outbox, openOutbox } from './outbox.ts';

export interface StoredOptions extends ListenOptions {
  /** Where its file lies; left out: in memory, gone with the process. */
  readonly dataFolder?: string | undefined;
  /** URL that takes events; left out: nobody is told. */
  readonly intake?: string | undefined;
  /** Milliseconds since 1970; default: the system's clock. */
  readonly now?: () => number;
  /** A text that no other event has; default: a random one. */
  readonly newId?: () => string;
}

export interface Stored {
  readonly database: DatabaseSync;
  readonly outbox: Outbox;
  readonly now: () => number;
  /** Ends the service and then what it stands on, which it also does for one that cannot start. */
  readonly endingWith: (starting: Promise<Service>) => Promise<Service>;
}

/** `name`: of the service, its file and its lines. `fill` makes the tables of its own and what they begin with. */
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
    endingWith: async (starting) => {
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

/** SUNDIAL_DATA, default ./data, and SUNDIAL_INTAKE. Throws with a sentence for a SUNDIAL_INTAKE that is no http URL. */
export function storedOptionsOf(environment: Environment): Pick<StoredOptions, 'dataFolder' | 'intake'> {
  const intake = environment.SUNDIAL_INTAKE || undefined;
  if (intake !== undefined && !/^https?:$/.test(URL.parse(intake)?.protocol ?? ''))
    throw new Error(`SUNDIAL_INTAKE must be an http or https URL, not "${intake}"`);
  return { dataFolder: resolve(environment.SUNDIAL_DATA || './data'), intake };
}
