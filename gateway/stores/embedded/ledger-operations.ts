// What is asked of the ledger's tables in sundial.db, in pieces that are each short: pins wait for the same thread.
// A part of operations.ts; ledger.ts makes the port of it.
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { mergeAgents } from '../../policy/usage/agents.ts';
import { dayNumber, startOfDay } from '../../policy/usage/day.ts';
import type {
  FirstSeen,
  UsageBatch,
  UsageCount,
  UsageFilter,
  UsageRecord,
  UsageSubject,
} from '../../policy/usage/ledger.ts';
import { placeOf, type UsagePlace } from '../../policy/usage/place.ts';
import type { UsageChunk } from '../usage-pages.ts';
import {
  agentsIn,
  countFrom,
  type DayNumbers,
  recordFrom,
  type StoredUsage,
  storedAgents,
  storedSample,
} from '../usage-text.ts';

const PLACE = 'api, version, consumer, via, operation';

/** `next`: the record to begin behind; undefined behind the last. */
export interface Swept {
  readonly removed: number;
  readonly next: number | undefined;
}

export function createLedgerOperations(database: DatabaseSync) {
  const prepare = (text: string): StatementSync => database.prepare(text);
  const lastOf = prepare('SELECT number FROM usage_writer WHERE writer = ?');
  const putWriter = prepare('INSERT OR REPLACE INTO usage_writer (writer, number, at) VALUES (?, ?, ?)');
  const watch = prepare(
    `INSERT INTO usage_watch (api, version, since) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET since = min(since, excluded.since)`,
  );
  const find = prepare(
    'SELECT id, agents FROM usage WHERE (api, version, consumer, via, operation) = (?, ?, ?, ?, ?)',
  );
  const insert = prepare(
    `INSERT INTO usage (${PLACE}, first_at, last_at, agents, sample) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const update = prepare(
    `UPDATE usage SET first_at = min(first_at, ?2), last_at = max(last_at, ?3), agents = ?4, sample = coalesce(?5, sample)
     WHERE id = ?1`,
  );
  const addCalls = prepare(
    'INSERT INTO usage_day (record, day, calls) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET calls = calls + excluded.calls',
  );
  const daysOf = prepare('SELECT day, calls FROM usage_day WHERE record = ? AND day >= ? ORDER BY day');
  const sumsOf = prepare(
    `SELECT sum(iif(day >= ?3, calls, 0)) AS calls, sum(iif(day >= ?4 AND day < ?5, calls, 0)) AS week,
            sum(iif(day >= ?6 AND day < ?4, calls, 0)) AS week_before
     FROM usage_day WHERE record = ?1 AND day >= ?2`,
  );
  const first = prepare(
    "SELECT min(first_at) AS at FROM usage WHERE (api, version, consumer) = (?, ?, ?) AND via <> 'address'",
  );
  const beganWith = prepare('SELECT since FROM usage_watch WHERE (api, version) = (?, ?)');
  const beganFirst = prepare('SELECT min(since) AS since FROM usage_watch');
  const idsOf = prepare('SELECT id FROM usage WHERE consumer = ? LIMIT ?');
  const idsAfter = prepare('SELECT id FROM usage WHERE id > ? ORDER BY id LIMIT ?');
  const dropDays = prepare('DELETE FROM usage_day WHERE record = ? AND day < ?');
  const dropEmpty = prepare(
    'DELETE FROM usage WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM usage_day WHERE record = ?1)',
  );
  const dropWriters = prepare('DELETE FROM usage_writer WHERE at < ?');
  /** By what they ask for: one for each combination of conditions that was ever asked for. */
  const reads = new Map<string, StatementSync>();

  /** Looks at `most`, whether or not they have a day that is meant: that is bounded too. */
  const rowsOf = (
    filter: Omit<UsageFilter, 'since'>,
    after: UsagePlace | undefined,
    most: number,
  ): readonly Row[] => {
    const { text, given } = conditionsOf(filter, after);
    const statement = reads.get(text) ?? prepare(text);
    reads.set(text, statement);
    return statement.all(...given, most);
  };

  const addRecord = (record: UsageRecord): void => {
    const place = placeOf(record);
    const known = find.get(...place);
    const sample = storedSample(record.sample) ?? null;
    let id = known?.id ?? null;
    if (known === undefined) {
      const { firstAt, lastAt, agents } = record;
      id = insert.run(...place, firstAt, lastAt, storedAgents(agents), sample).lastInsertRowid;
    } else {
      const agents = storedAgents(mergeAgents(agentsIn(textOf(known.agents)), record.agents));
      update.run(id, record.firstAt, record.lastAt, agents, sample);
    }
    for (const [day, calls] of Object.entries(record.callsByDay)) addCalls.run(id, dayNumber(day), calls);
  };

  return {
    addUsage: ({ writer, number, at, watched, records }: UsageBatch): void => {
      if (Number(lastOf.get(writer)?.number ?? 0) >= number) return;
      putWriter.run(writer, number, at);
      for (const { api, version } of watched) watch.run(api, version, at);
      for (const record of records) addRecord(record);
    },
    /** At most `most` records behind `after`. `since`: the first day of interest. */
    readUsage: (
      filter: UsageFilter,
      since: number,
      after: UsagePlace | undefined,
      most: number,
    ): UsageChunk => {
      return chunkOf(rowsOf(filter, after, most), most, (row) => {
        const days = daysOf
          .all(row.id ?? null, since)
          .map((day) => [Number(day.day), Number(day.calls)] as const);
        const isMeant = filter.since === undefined || days.length > 0;
        return isMeant ? recordFrom({ ...partOf(row), sample: textOf(row.sample), days }) : undefined;
      });
    },
    /** The same, added up. */
    countUsage: (
      filter: Omit<UsageFilter, 'since'>,
      { since, readFrom, weekFrom, weekBeforeFrom, today }: DayNumbers,
      after: UsagePlace | undefined,
      most: number,
    ): UsageChunk<UsageCount> =>
      chunkOf(rowsOf(filter, after, most), most, (row) => {
        const id = row.id ?? null;
        const sums = sumsOf.get(id, readFrom, since, weekFrom, today, weekBeforeFrom) ?? {};
        // Of no day there is no sum.
        if (sums.calls === null) return undefined;
        const { calls, week, week_before: weekBefore } = sums;
        return countFrom({
          ...partOf(row),
          sums: { calls: Number(calls), week: Number(week), weekBefore: Number(weekBefore) },
        });
      }),
    firstUsage: ({ api, version, consumer }: Omit<UsageSubject, 'operation' | 'via'>): FirstSeen => ({
      at: numberOf(first.get(api, version, consumer)?.at),
      countedSince: numberOf(beganWith.get(api, version)?.since),
    }),
    usageBegan: (api: string | undefined, version: string | undefined): number | undefined =>
      numberOf(
        api === undefined || version === undefined
          ? beganFirst.get()?.since
          : beganWith.get(api, version)?.since,
      ),
    /** How many of the consumer's records went, of `most`. */
    eraseUsage: (consumer: string, most: number): number => {
      const rows = idsOf.all(consumer, most);
      for (const { id = null } of rows) {
        dropDays.run(id, Number.MAX_SAFE_INTEGER);
        dropEmpty.run(id);
      }
      return rows.length;
    },
    /** Looks at `most` records behind the one with the number `after`. `before`: the first day that stays. */
    sweepUsage: (before: number, after: number, most: number): Swept => {
      if (after === 0) dropWriters.run(startOfDay(before));
      const ids = idsAfter.all(after, most).map(({ id = null }) => id);
      let removed = 0;
      for (const id of ids) {
        dropDays.run(id, before);
        removed += Number(dropEmpty.run(id).changes);
      }
      return { removed, next: ids.length < most ? undefined : numberOf(ids.at(-1)) };
    },
  };
}

/** One statement for the conditions there are, so that each is looked up in the index that it fits. */
function conditionsOf(
  { api, version, consumer, via }: Omit<UsageFilter, 'since'>,
  after: UsagePlace | undefined,
): { readonly text: string; readonly given: readonly SQLInputValue[] } {
  const parts: (readonly [condition: string, ...given: SQLInputValue[]])[] = [];
  if (api !== undefined) parts.push(['api = ?', api]);
  if (version !== undefined) parts.push(['version = ?', version]);
  if (consumer !== undefined) parts.push(['consumer = ?', consumer]);
  if (via !== undefined) parts.push(['via = ?', via]);
  if (after !== undefined) parts.push([`(${PLACE}) > (?, ?, ?, ?, ?)`, ...after]);
  const where = parts.length === 0 ? '' : `WHERE ${parts.map(([condition]) => condition).join(' AND ')}`;
  return {
    text: `SELECT id, ${PLACE}, first_at, last_at, agents, sample FROM usage ${where} ORDER BY ${PLACE} LIMIT ?`,
    given: parts.flatMap(([, ...given]) => given),
  };
}

type Row = Readonly<Record<string, SQLOutputValue>>;

function chunkOf<T>(rows: readonly Row[], most: number, read: (row: Row) => T | undefined): UsageChunk<T> {
  const last = rows.length < most ? undefined : rows.at(-1);
  return { records: rows.flatMap((row) => read(row) ?? []), last: last && partOf(last).place };
}

function partOf(row: Row): Pick<StoredUsage, 'place' | 'firstAt' | 'lastAt' | 'agents'> {
  const text = (name: string): string => textOf(row[name]) ?? '';
  return {
    place: [text('api'), text('version'), text('consumer'), text('via'), text('operation')],
    firstAt: Number(row.first_at),
    lastAt: Number(row.last_at),
    agents: textOf(row.agents),
  };
}

function textOf(value: SQLOutputValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOf(value: SQLOutputValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
