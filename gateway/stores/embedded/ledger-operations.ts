// The ledger's operations on sundial.db, in short pieces, because pins wait for the same thread.
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { mergeAgents } from '../../policy/usage/agents.ts';
import { dayNumber, startOfDay } from '../../policy/usage/day.ts';
import {
  type FirstSeen,
  placeOf,
  type UsageBatch,
  type UsageRecord,
  type VersionConsumer,
} from '../../policy/usage/ledger.ts';
import { agentsIn, storedAgents, storedSample } from '../usage-text.ts';
import { createLedgerReading, PLACE, prepareExact, textOf } from './ledger-reading.ts';

/** `next`: the record after which the next piece begins; undefined after the last one. */
export interface SweepProgress {
  readonly removed: number;
  readonly next: number | undefined;
}

const INVALID_COUNT = 2 ** 53;
/** Bounds of JavaScript dates: days, and milliseconds, since 1970. */
const LAST_DAY = 100_000_000;
const LAST_INSTANT = LAST_DAY * 86_400_000;

const isInstant = (column: string): string => `${column} BETWEEN ${-LAST_INSTANT} AND ${LAST_INSTANT}`;

export function createLedgerOperations(database: DatabaseSync) {
  const prepare = (text: string): StatementSync => prepareExact(database, text);
  const findWriter = prepare('SELECT number FROM usage_writer WHERE writer = ?');
  const putWriter = prepare('INSERT OR REPLACE INTO usage_writer (writer, number, at) VALUES (?, ?, ?)');
  const watch = prepare(
    `INSERT INTO usage_watch (api, version, since) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET since = min(since, excluded.since)`,
  );
  const unwatch = prepare('DELETE FROM usage_watch');
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
    // The sum is capped at an invalid count. An overflow of the column would refuse the batch each time.
    `INSERT INTO usage_day (record, day, calls) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET calls = min(calls + excluded.calls, ${INVALID_COUNT})`,
  );
  const findFirstCall = prepare(
    `SELECT min(first_at) AS at FROM usage
     WHERE (api, version, consumer) = (?, ?, ?) AND via <> 'address' AND ${isInstant('first_at')}`,
  );
  const findCountingStart = prepare('SELECT since FROM usage_watch WHERE (api, version) = (?, ?)');
  const firstCountingStart = prepare(
    `SELECT min(since) AS since FROM usage_watch WHERE ${isInstant('since')}`,
  );
  const idsOf = prepare('SELECT id FROM usage WHERE consumer = ? LIMIT ?');
  const idsAfter = prepare('SELECT id FROM usage WHERE id > ? ORDER BY id LIMIT ?');
  const dropDays = prepare(`DELETE FROM usage_day WHERE record = ? AND (day < ? OR day > ${LAST_DAY})`);
  const dropEveryDay = prepare('DELETE FROM usage_day WHERE record = ?');
  const dropEmpty = prepare(
    'DELETE FROM usage WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM usage_day WHERE record = ?1)',
  );
  const dropWriters = prepare('DELETE FROM usage_writer WHERE at < ?');
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
      if ((numberOf(findWriter.get(writer)?.number) ?? 0) >= number) return;
      putWriter.run(writer, number, at);
      for (const { api, version } of watched) watch.run(api, version, at);
      for (const record of records) addRecord(record);
    },
    ...createLedgerReading(database),
    firstUsage: ({ api, version, consumer }: VersionConsumer): FirstSeen => ({
      at: numberOf(findFirstCall.get(api, version, consumer)?.at),
      countedSince: numberOf(findCountingStart.get(api, version)?.since),
    }),
    usageBegan: (api: string | undefined, version: string | undefined): number | undefined =>
      numberOf(
        api === undefined || version === undefined
          ? firstCountingStart.get()?.since
          : findCountingStart.get(api, version)?.since,
      ),
    unwatchUsage: (): void => {
      unwatch.run();
    },
    /** Removes at most `most` records of the consumer and returns their number. */
    eraseUsage: (consumer: string, most: number): number => {
      const rows = idsOf.all(consumer, most);
      for (const { id = null } of rows) {
        dropEveryDay.run(id);
        dropEmpty.run(id);
      }
      return rows.length;
    },
    /** Looks at `most` records with an id above `after`. `before`: the first day that is kept. */
    sweepUsage: (before: number, after: number, most: number): SweepProgress => {
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

/** Undefined for a value that no release writes. */
function numberOf(value: SQLOutputValue | undefined): number | undefined {
  const number = typeof value === 'bigint' ? Number(value) : undefined;
  return Number.isSafeInteger(number) ? number : undefined;
}
