// How the published files are written in a store: one text for all, so that they change together.
// Both stores keep it.
import type { PublishedFile } from '../plan/published-record.ts';
import { StoreUnavailable } from '../policy/contract.ts';
import { isStoredObject, storedValue } from './stored-json.ts';

export function writePublished(files: readonly PublishedFile[]): string {
  return JSON.stringify(files.map(({ kind, name, text }) => ({ kind, name, text })));
}

/** @throws StoreUnavailable for a text that is no list of files: as good as no answer */
export function readPublished(stored: string | undefined): readonly PublishedFile[] {
  if (stored === undefined) return [];
  const files = storedValue(stored);
  if (!Array.isArray(files)) throw unreadable();
  return files.map((file: unknown) => {
    if (!isStoredObject(file)) throw unreadable();
    const { kind, name, text } = file;
    if (!isFileKind(kind) || typeof name !== 'string' || typeof text !== 'string') throw unreadable();
    return { kind, name, text };
  });
}

function isFileKind(value: unknown): value is PublishedFile['kind'] {
  return value === 'policy' || value === 'description';
}

function unreadable(): StoreUnavailable {
  return new StoreUnavailable('what is stored as the published files is none');
}
