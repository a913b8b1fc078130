// The stored form of ledger records: writing, checked reading, and pages read in short pieces.
import type { MonotonicMs } from '../policy/contract.ts';
import { MAX_AGENTS } from '../policy/usage/agents.ts';
import { dayNamed, dayNumber, startOfDay } from '../policy/usage/day.ts';
import {
  type CountedDays,
  KNOWN_BY,
  type PageRequest,
  readPlace,
  type UsageCount,
  type UsagePlace,
  type UsageRecord,
  type UsageSample,
  writePlace,
} from '../policy/usage/ledger.ts';
import { isInstant, isStoredObject, storedValue } from './stored-json.ts';

interface StoredPart {
  readonly place: UsagePlace;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly agents: string | undefined;
}

export interface StoredUsage extends StoredPart {
  readonly sample: string | undefined;
  readonly days: readonly (readonly [day: number, calls: number])[];
}

export type DayNumbers = { readonly [K in keyof CountedDays]: number };

export interface StoredCount extends StoredPart {
  readonly sums: Pick<UsageCount, 'calls' | 'week' | 'weekBefore'>;
}

/** An agent is one line: it contains no control character. */
const BETWEEN_AGENTS = '\n';

export function storedAgents(agents: readonly string[]): string {
  return agents.join(BETWEEN_AGENTS);
}

export function agentsIn(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.split(BETWEEN_AGENTS).slice(-MAX_AGENTS);
}

export function storedSample(sample: UsageSample | undefined): string | undefined {
  return sample && JSON.stringify(sample);
}

/** Undefined for an invalid record. Fields that a later release added are ignored. */
export function recordFrom({ sample, days, ...part }: StoredUsage): UsageRecord | undefined {
  const known = partFrom(part);
  if (known === undefined) return undefined;
  if (!days.every(([day, calls]) => isInstant(startOfDay(day)) && Number.isSafeInteger(calls)))
    return undefined;
  return {
    ...known,
    callsByDay: Object.fromEntries(
      days.toSorted(([one], [other]) => one - other).map(([day, calls]) => [dayNamed(day), calls]),
    ),
    sample: sampleIn(sample),
  };
}

export function countFrom({ sums, ...part }: StoredCount): UsageCount | undefined {
  const known = partFrom(part);
  return known === undefined || !Object.values(sums).every(Number.isSafeInteger)
    ? undefined
    : { ...known, ...sums };
}

export function dayNumbers({ since, readFrom, weekFrom, weekBeforeFrom, today }: CountedDays): DayNumbers {
  return {
    since: dayNumber(since),
    readFrom: dayNumber(readFrom),
    weekFrom: dayNumber(weekFrom),
    weekBeforeFrom: dayNumber(weekBeforeFrom),
    today: dayNumber(today),
  };
}

function partFrom({ place, firstAt, lastAt, agents }: StoredPart) {
  const [api, version, consumer, via, storedOperation] = place;
  const knownBy = KNOWN_BY.find((each) => each === via);
  if (knownBy === undefined || !isInstant(firstAt) || !isInstant(lastAt)) return undefined;
  const operation = storedOperation === '' ? undefined : storedOperation;
  return { consumer, via: knownBy, api, version, operation, firstAt, lastAt, agents: agentsIn(agents) };
}

function sampleIn(text: string | undefined): UsageSample | undefined {
  const value = text === undefined ? undefined : storedValue(text);
  if (!isStoredObject(value)) return undefined;
  const { method, template, requestId } = value;
  return typeof method === 'string' && typeof template === 'string' && typeof requestId === 'string'
    ? { method, template, requestId }
    : undefined;
}

export interface UsageChunk<T = UsageRecord> {
  readonly records: readonly T[];
  /** The place of the last record that the store looked at; undefined after the last record. */
  readonly last: UsagePlace | undefined;
}

/** A page may end early or be empty, so that the caller can stop between pages. */
const PAGE_TIME_MS = 1_000;

/**
 * Reads a page in chunks. `readChunk` returns at most `most` records after `after`. After a second the page
 * ends, full or not.
 * @throws RangeError if `after` is not a valid place
 */
export async function readPage<T>(
  readChunk: (after: UsagePlace | undefined, most: number) => Promise<UsageChunk<T>>,
  { after, limit }: PageRequest,
  mostAtOnce: number,
  monotonic: () => MonotonicMs = () => performance.now(),
): Promise<{ readonly records: readonly T[]; readonly next: string | undefined }> {
  let place = after === undefined ? undefined : readPlace(after);
  if (after !== undefined && place === undefined) throw new RangeError('invalid place in the ledger');
  const records: T[] = [];
  const end = monotonic() + PAGE_TIME_MS;
  for (;;) {
    const chunk = await readChunk(place, Math.min(mostAtOnce, limit - records.length));
    records.push(...chunk.records);
    place = chunk.last;
    if (place === undefined) return { records, next: undefined };
    if (records.length >= limit || monotonic() > end) return { records, next: writePlace(place) };
  }
}
