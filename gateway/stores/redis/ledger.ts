// The ledger shared by all gateways on one Redis: two hashes per record, and two sorted sets as indexes.
import { MAX_AGENTS } from '../../policy/usage/agents.ts';
import { dayNumber } from '../../policy/usage/day.ts';
import {
  type LedgerStore,
  placeOf,
  type UsageBatch,
  type UsageCount,
  type UsageFilter,
  type UsagePlace,
  type UsageRecord,
} from '../../policy/usage/ledger.ts';
import {
  countFrom,
  dayNumbers,
  readPage,
  recordFrom,
  type StoredUsage,
  storedAgents,
  storedSample,
  type UsageChunk,
} from '../usage-text.ts';
import type { RedisConnection } from './connect.ts';
import { luaText } from './lua.ts';

const BASE = 'sundial:ledger:{usage}';
/**
 * The version of the record format. Later releases only add fields, so an old and a new gateway can share one
 * Redis.
 */
const FORMAT_VERSION = 1;
/** How long a writer's last batch number is kept. A batch resent within this time is not counted twice. */
const WRITER_KEPT_MS = 30 * 86_400_000;
/** No request waits for a ledger call. */
const ANSWER_WITHIN_MS = 1000;
/** Limits per script call. They keep the time for which Redis is blocked to a few milliseconds. */
const MAX_AT_ONCE = 100;
const MAX_DAYS_AT_ONCE = 2_000;
/** Separates the parts of a name. The parts contain only printable characters. */
const NUL = '\0';
const AFTER_NUL = '\u0001';

export function createRedisLedger({ script }: RedisConnection): LedgerStore {
  const scriptOptions = { answerWithinMs: ANSWER_WITHIN_MS, derivesKeys: true };
  const define = (name: string, text: string) => script(name, text, 1, scriptOptions);
  const addUsage = define('sundialAddUsage', luaText('add-usage'));
  const readUsage = define('sundialReadUsage', luaText('read-usage'));
  const forgetUsage = define('sundialForgetUsage', luaText('forget-usage'));
  const firstUsage = script('sundialFirstUsage', luaText('first-usage'), 1, { derivesKeys: true });
  const unwatch = define('sundialUnwatch', "return redis.call('DEL', KEYS[1] .. ':watched')");
  const usageBegan = define('sundialUsageBegan', luaText('usage-began'));

  /** `days`: the bounds of the days to sum. Empty: returns whole records. */
  const readChunk = (
    filter: UsageFilter,
    since: number | '',
    after: UsagePlace | undefined,
    most: number,
    days: readonly number[] = [],
  ): Promise<unknown> => {
    const { version = '', via = '' } = filter;
    const bounds = [most, MAX_AT_ONCE, version, via, since, MAX_DAYS_AT_ONCE];
    return readUsage(BASE, ...rangeOf(filter, after), ...bounds, ...days);
  };
  /** Removes the days before `before` from the matching records; '' removes the records. */
  const forget = async (filter: UsageFilter, before: number | ''): Promise<number> => {
    const [index, start, to] = rangeOf(filter, undefined);
    let removed = 0;
    let from = start;
    for (;;) {
      const reply = await forgetUsage(BASE, index, from, to, MAX_AT_ONCE, before, MAX_DAYS_AT_ONCE);
      const [last, removedNow] = Array.isArray(reply) ? reply : [];
      removed += Number(removedNow);
      if (typeof last !== 'string' || last === '') return removed;
      from = `(${last}`;
    }
  };

  return {
    add: async (batch) => {
      const failed = Number(await addUsage(BASE, ...argumentsOf(batch)));
      // The batch number is already stored. A resend would add nothing.
      if (failed > 0)
        throw new Error(`Redis has values of another type under the keys of ${failed} ledger records`);
    },
    read: async (filter, page) => {
      const since = filter.since === undefined ? '' : dayNumber(filter.since);
      const read = async (after: UsagePlace | undefined, most: number) =>
        chunkIn(await readChunk(filter, since, after, most), wholeRecord);
      return readPage(read, page, MAX_AT_ONCE);
    },
    count: async (filter, days, page) => {
      const { since, readFrom, weekFrom, today, weekBeforeFrom } = dayNumbers(days);
      const summed = [since, weekFrom, today, weekBeforeFrom];
      const read = async (after: UsagePlace | undefined, most: number) =>
        chunkIn(await readChunk(filter, readFrom, after, most, summed), countedRecord);
      return readPage(read, page, MAX_AT_ONCE);
    },
    firstSeen: async ({ api, version, consumer }) => {
      const prefix = [api, version, consumer].join(NUL);
      // `via: address` sorts first. The range skips it, because an address does not identify a consumer.
      const from = [prefix, 'address'].join(NUL);
      const range = [`[${from}${AFTER_NUL}`, `(${prefix}${AFTER_NUL}`];
      const reply = await firstUsage(BASE, ...range, versionName({ api, version }));
      const [at = null, countedSince = null] = Array.isArray(reply) ? reply : [];
      return { at: numberIn(at), countedSince: numberIn(countedSince) };
    },
    beganAt: async (of) => numberIn(await usageBegan(BASE, of === undefined ? '' : versionName(of))),
    unwatch: async () => {
      await unwatch(BASE);
    },
    erase: (consumer) => forget({ consumer }, ''),
    sweep: (day) => forget({}, dayNumber(day)),
  };
}

function argumentsOf({ writer, number, at, watched, records }: UsageBatch): readonly (string | number)[] {
  return [
    ...[writer, number, WRITER_KEPT_MS, FORMAT_VERSION, MAX_AGENTS, at],
    ...[watched.length, ...watched.map(versionName)],
    ...records.flatMap(recordArguments),
  ];
}

function recordArguments(record: UsageRecord): readonly (string | number)[] {
  const place = placeOf(record);
  const days = Object.entries(record.callsByDay);
  return [
    ...[nameOf(place), consumerName(place), record.firstAt, record.lastAt],
    ...[storedAgents(record.agents), storedSample(record.sample) ?? ''],
    ...[days.length, ...days.flatMap(([day, calls]) => [dayNumber(day), calls])],
  ];
}

const nameOf = (place: UsagePlace): string => place.join(NUL);

/** Member of the index by consumer: sorted by consumer, then as in the main index. */
function consumerName([api, version, consumer, via, operation]: UsagePlace): string {
  return nameOf([consumer, api, version, via, operation]);
}

function versionName({ api, version }: { readonly api: string; readonly version: string }): string {
  return `${api}${NUL}${version}`;
}

/** The index to scan for `filter`, and the range in it, as ZRANGEBYLEX takes it. */
function rangeOf(
  { api, version, consumer }: UsageFilter,
  after: UsagePlace | undefined,
): readonly [index: string, from: string, to: string] {
  const ordered = consumer === undefined ? [api, version, consumer] : [consumer, api, version];
  const missing = ordered.indexOf(undefined);
  const known = missing === -1 ? ordered : ordered.slice(0, missing);
  const index = consumer === undefined ? 'index' : 'consumers';
  const begin = after && (consumer === undefined ? nameOf : consumerName)(after);
  if (known.length === 0) return [index, begin === undefined ? '-' : `(${begin}`, '+'];
  const prefix = known.join(NUL);
  // `after` may come from a page of another filter and lie before the range.
  const isWithin = begin !== undefined && Buffer.compare(Buffer.from(begin), Buffer.from(prefix)) > 0;
  return [index, isWithin ? `(${begin}` : `[${prefix}${NUL}`, `(${prefix}${AFTER_NUL}`];
}

type ReplyValues = readonly unknown[];
type StoredHead = Pick<StoredUsage, 'place' | 'firstAt' | 'lastAt' | 'agents' | 'sample'>;

function chunkIn<T>(
  reply: unknown,
  read: (part: StoredHead, values: ReplyValues) => T | undefined,
): UsageChunk<T> {
  if (!Array.isArray(reply)) throw new TypeError('the ledger script did not return a list');
  const [last, ...found] = reply as [unknown, ...ReplyValues[]];
  return {
    records: found.flatMap(([name, firstAt, lastAt, agents, sample, values]) => {
      const place = placeIn(name);
      if (place === undefined || !Array.isArray(values)) return [];
      const part = {
        place,
        firstAt: Number(firstAt ?? Number.NaN),
        lastAt: Number(lastAt ?? Number.NaN),
        agents: typeof agents === 'string' ? agents : undefined,
        sample: typeof sample === 'string' ? sample : undefined,
      };
      return read(part, values) ?? [];
    }),
    last: placeIn(last),
  };
}

function wholeRecord(part: StoredHead, days: ReplyValues): UsageRecord | undefined {
  return recordFrom({ ...part, days: pairsIn(days) });
}

function countedRecord({ sample: _sample, ...part }: StoredHead, sums: ReplyValues): UsageCount | undefined {
  const [calls = Number.NaN, week = Number.NaN, weekBefore = Number.NaN] = sums.map(Number);
  return countFrom({ ...part, sums: { calls, week, weekBefore } });
}

function placeIn(name: unknown): UsagePlace | undefined {
  const [api, version, consumer, via, operation] = String(name).split(NUL);
  if (api === undefined || version === undefined || consumer === undefined) return undefined;
  return via === undefined || operation === undefined ? undefined : [api, version, consumer, via, operation];
}

function pairsIn(flat: readonly unknown[]): readonly (readonly [number, number])[] {
  return flat.flatMap((day, index) =>
    index % 2 === 0 ? [[Number(day), Number(flat[index + 1])] as const] : [],
  );
}

function numberIn(reply: unknown): number | undefined {
  return reply === null ? undefined : Number(reply);
}
