// The stored form of the published files: one text for all of them, so that they change together.

import type {
  AcceptedChange,
  FormerVersion,
  PublishedEntry,
  PublishedFile,
} from '../plan/published/record.ts';
import { StoreUnavailable } from '../policy/contract.ts';
import { inSlices } from '../system/time-slices.ts';
import { isInstant, isStoredObject, type StoredObject, storedValue } from './stored-json.ts';

const HEAD = '[\n';
const BETWEEN = ',\n';
const TAIL = '\n]';

const INSTANTS = ['released', 'deprecated', 'sunset', 'extended', 'forgotten'] as const;

export function writePublished(entries: readonly PublishedEntry[]): Promise<string> {
  return inSlices(writeSteps(entries));
}

/** @throws StoreUnavailable for a text that is not a list of entries */
export function readPublished(stored: string | undefined): Promise<readonly PublishedEntry[]> {
  return inSlices(readSteps(stored));
}

function* writeSteps(entries: readonly PublishedEntry[]): Generator<void, string> {
  const lines: string[] = [];
  for (const entry of entries) {
    lines.push(JSON.stringify(entry));
    yield;
  }
  return `${HEAD}${lines.join(BETWEEN)}${TAIL}`;
}

function* readSteps(stored: string | undefined): Generator<void, readonly PublishedEntry[]> {
  if (stored === undefined) return [];
  const entries: PublishedEntry[] = [];
  for (const value of valuesIn(stored)) {
    entries.push(entryOf(value));
    yield;
  }
  return entries;
}

/** Earlier releases wrote all entries on one line. */
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

function entryOf(value: unknown): PublishedEntry {
  if (!isStoredObject(value)) throw unreadable();
  const remembered = formerIn(value) ?? acceptedIn(value);
  if (remembered !== undefined) return remembered;
  const { kind, name, text, digest } = value;
  if (kind === 'superseded' && typeof digest === 'string') return { kind, digest };
  if (!isFileKind(kind) || typeof name !== 'string' || typeof text !== 'string') throw unreadable();
  return { kind, name, text };
}

function isFileKind(value: unknown): value is PublishedFile['kind'] {
  return value === 'policy' || value === 'description' || value === 'guide';
}

function acceptedIn({ kind, api, label, to, by, why, at }: StoredObject): AcceptedChange | undefined {
  const texts = [api, label, to, by, why];
  if (kind !== 'accepted' || !isInstant(at) || !isTexts(texts)) return undefined;
  const [ofApi = '', ofLabel = '', changed = '', author = '', reason = ''] = texts;
  return { kind, api: ofApi, label: ofLabel, to: changed, by: author, why: reason, at };
}

function unreadable(): StoreUnavailable {
  return new StoreUnavailable('the stored published files are unreadable');
}

function formerIn(value: StoredObject): FormerVersion | undefined {
  const { kind, api, label, places, left, operations } = value;
  if (kind !== 'former' || typeof api !== 'string' || typeof label !== 'string') return undefined;
  if (!isInstant(left) || !isTexts(places) || !isSunsets(operations)) return undefined;
  const instants = INSTANTS.flatMap((key) => (value[key] === undefined ? [] : [[key, value[key]] as const]));
  if (!instants.every(([, instant]) => isInstant(instant))) return undefined;
  return {
    kind,
    api,
    label,
    places,
    left,
    ...Object.fromEntries(instants),
    ...(operations !== undefined && { operations }),
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isSunsets(value: unknown): value is FormerVersion['operations'] {
  return value === undefined || (isStoredObject(value) && Object.values(value).every(isInstant));
}
