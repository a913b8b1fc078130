// A sample store port: marks by key, of which the first is kept.
import type { Toy } from './toy.ts';

const PORTS = 'gateway/stores/ports.ts';

export const STORE_PORT: Toy = {
  edits: [
    {
      file: PORTS,
      after: "import { embeddedPublished, publishedOperations } from './embedded/published.ts';\n",
      add: "import { embeddedToyMarks, toyMarkOperations } from './embedded/toy-marks.ts';\n",
    },
    {
      file: PORTS,
      after: "import { createRedisPublished } from './redis/published.ts';\n",
      add: "import { createRedisToyMarks } from './redis/toy-marks.ts';\n",
    },
    {
      file: PORTS,
      after: 'const PORTS = {\n',
      add: '  toyMarks: storePort(toyMarkOperations, embeddedToyMarks, createRedisToyMarks),\n',
    },
  ],
  newFiles: {
    'gateway/policy/toy-marks.ts': `// A mark for each key; the first one stays.

export interface ToyMarks {
  /** Returns the mark that is kept. */
  readonly keep: (key: string, mark: string) => Promise<string>;
}
`,
    'gateway/stores/embedded/toy-marks.ts': `// Toy marks in sundial.db.
import type { DatabaseSync } from 'node:sqlite';
import type { ToyMarks } from '../../policy/toy-marks.ts';
import type { CallThread } from '../store-port.ts';

/** Run by the thread of the database. */
export function toyMarkOperations(database: DatabaseSync) {
  database.exec('CREATE TABLE IF NOT EXISTS toy_mark (key TEXT PRIMARY KEY, mark TEXT NOT NULL) STRICT');
  const put = database.prepare('INSERT OR IGNORE INTO toy_mark (key, mark) VALUES (?, ?)');
  const find = database.prepare('SELECT mark FROM toy_mark WHERE key = ?');
  return {
    keepToyMark: (key: string, mark: string): string => {
      put.run(key, mark);
      return String(find.get(key)?.mark);
    },
  };
}

export function embeddedToyMarks(call: CallThread<ReturnType<typeof toyMarkOperations>>): ToyMarks {
  return { keep: (key, mark) => call('keepToyMark', key, mark) };
}
`,
    'gateway/stores/redis/toy-marks.ts': `// Toy marks in Redis, one hash.
import type { ToyMarks } from '../../policy/toy-marks.ts';
import type { RedisConnection } from './connect.ts';

const MARKS = 'sundial:toy-marks';

export function createRedisToyMarks({ script }: RedisConnection): ToyMarks {
  const keep = script(
    'sundialKeepToyMark',
    "redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) return redis.call('HGET', KEYS[1], ARGV[1])",
    1,
    { answerWithinMs: 1000 },
  );
  return { keep: async (key, mark) => String(await keep(MARKS, key, mark)) };
}
`,
  },
};
