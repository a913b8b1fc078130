// How the published files are written in a store: one text for all, so that they change together.
// Both stores keep it. It has a file per line, and is written and read in slices: there may be thousands.
import { inSlices } from '../plan/in-slices.ts';
import type { PublishedFile } from '../plan/published-record.ts';
import { StoreUnavailable } from '../policy/contract.ts';
import { isStoredObject, storedValue } from './stored-json.ts';

const HEAD = '[\n';
const BETWEEN = ',\n';
const TAIL = '\n]';

export function writePublished(files: readonly PublishedFile[]): Promise<string> {
  return inSlices(writeSteps(files));
}

/** @throws StoreUnavailable for a text that is no list of files: as good as no answer */
export function readPublished(stored: string | undefined): Promise<readonly PublishedFile[]> {
  return inSlices(readSteps(stored));
}

function* writeSteps(files: readonly PublishedFile[]): Generator<void, string> {
  const lines: string[] = [];
  for (const { kind, name, text } of files) {
    lines.push(JSON.stringify({ kind, name, text }));
    yield;
  }
  return `${HEAD}${lines.join(BETWEEN)}${TAIL}`;
}

function* readSteps(stored: string | undefined): Generator<void, readonly PublishedFile[]> {
  if (stored === undefined) return [];
  const files: PublishedFile[] = [];
  for (const value of valuesIn(stored)) {
    files.push(fileOf(value));
    yield;
  }
  return files;
}

/** Earlier gateways wrote all on one line. */
function* valuesIn(stored: string): Generator<unknown, void> {
  if (stored.startsWith(HEAD) && stored.endsWith(TAIL)) {
    const lines = stored.slice(HEAD.length, -TAIL.length);
    if (lines !== '') for (const line of lines.split(BETWEEN)) yield storedValue(line);
    return;
  }
  const values = storedValue(stored);
  if (!Array.isArray(values)) throw unreadable();
  yield* values;
}

function fileOf(value: unknown): PublishedFile {
  if (!isStoredObject(value)) throw unreadable();
  const { kind, name, text } = value;
  if (!isFileKind(kind) || typeof name !== 'string' || typeof text !== 'string') throw unreadable();
  return { kind, name, text };
}

function isFileKind(value: unknown): value is PublishedFile['kind'] {
  return value === 'policy' || value === 'description';
}

function unreadable(): StoreUnavailable {
  return new StoreUnavailable('what is stored as the published files is none');
}
