// The published files in sundial.db.
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { PublishedRecord } from '../../plan/published/record.ts';
import { readPublished, writePublished } from '../published-text.ts';
import type { CallThread } from '../store-port.ts';
import { textOf } from './ledger-reading.ts';

interface PublishedText {
  readonly text: string | undefined;
  readonly mark: string;
}

function markOf(text: string | undefined): string {
  return text === undefined ? '' : createHash('sha1').update(text).digest('hex');
}

/** Runs in the database thread. */
export function publishedOperations(database: DatabaseSync) {
  const published = database.prepare('SELECT files FROM published');
  const put = database.prepare('INSERT OR REPLACE INTO published (one, files) VALUES (1, ?)');
  return {
    readPublished: (): PublishedText => {
      const text = textOf(published.get()?.files);
      return { text, mark: markOf(text) };
    },
    writePublished: (files: string, mark: string): boolean => {
      if (markOf(textOf(published.get()?.files)) !== mark) return false;
      put.run(files);
      return true;
    },
  };
}

export function embeddedPublished(call: CallThread<ReturnType<typeof publishedOperations>>): PublishedRecord {
  return {
    read: async () => {
      const { text, mark } = await call('readPublished');
      return { entries: await readPublished(text), mark };
    },
    write: async (entries, mark) => call('writePublished', await writePublished(entries), mark),
  };
}
