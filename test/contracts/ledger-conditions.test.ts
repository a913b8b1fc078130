// The SQL conditions of ledger pages: the right rows for any filter and place, read by an index.
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { UsagePlace } from '../../gateway/policy/usage/ledger.ts';
import { conditionsOf, PLACE } from '../../gateway/stores/embedded/ledger-reading.ts';
import { migrate } from '../../gateway/stores/embedded/schema.ts';

/** UTF-16 and UTF-8 order the last two differently. */
const TEXTS = ['', 'a', 'b', '\u{ff5e}', '\u{1f600}'];
const VIAS = ['address', 'certificate', 'key', 'token'] as const;
const database = new DatabaseSync(':memory:');
const text = fc.constantFrom(...TEXTS);
const place: fc.Arbitrary<UsagePlace> = fc.tuple(text, text, text, fc.constantFrom('', 'b', ...VIAS), text);
const filter = fc.record(
  { api: text, version: text, consumer: text, via: fc.constantFrom(...VIAS) },
  { requiredKeys: [] },
);

const bytes = (row: UsagePlace): string => row.map((part) => Buffer.from(part).toString('hex')).join(' ');
const order = (one: UsagePlace, other: UsagePlace): number => {
  const [left, right] = [bytes(one), bytes(other)];
  return left === right ? 0 : left < right ? -1 : 1;
};
const rows: UsagePlace[] = TEXTS.flatMap((api) =>
  TEXTS.flatMap((version) =>
    TEXTS.flatMap((consumer) => VIAS.map((via): UsagePlace => [api, version, consumer, via, ''])),
  ),
);

beforeAll(() => {
  migrate(database);
  const insert = database.prepare(
    `INSERT INTO usage (${PLACE}, first_at, last_at, agents) VALUES (?, ?, ?, ?, ?, 0, 0, '')`,
  );
  database.exec('BEGIN');
  for (const row of rows) insert.run(...row);
  database.exec('COMMIT');
});
afterAll(() => database.close());

it('a page has the rows after its place in order, for any filter and place', () => {
  fc.assert(
    fc.property(filter, fc.option(place, { nil: undefined }), (fixed, after) => {
      const { text: where, given } = conditionsOf(fixed, after);
      const found = database
        .prepare(`SELECT ${PLACE} FROM usage WHERE ${where} ORDER BY ${PLACE}`)
        .all(...given)
        .map((row) => Object.values(row) as unknown as UsagePlace);
      const [api, version, consumer, via] = [fixed.api, fixed.version, fixed.consumer, fixed.via];
      const wanted = rows
        .filter((row) =>
          [api, version, consumer, via].every((each, at) => each === undefined || each === row[at]),
        )
        .filter((row) => after === undefined || order(row, after) > 0)
        .toSorted(order);
      expect(found).toEqual(wanted);
    }),
    { numRuns: 300 },
  );
});

it.each([
  [{}, 'api,version,consumer,via,operation'],
  [{ api: 'a' }, 'version,consumer,via,operation'],
  [{ api: 'a', version: 'b' }, 'consumer,via,operation'],
  [{ consumer: 'a' }, 'api,version,via,operation'],
])('a page of %j starts at its place in the index, not at the first row of the filter', (fixed, columns) => {
  const { text: where, given } = conditionsOf(fixed, ['a', 'b', 'a', 'a', '']);
  const [step, ...more] = database
    .prepare(`EXPLAIN QUERY PLAN SELECT * FROM usage WHERE ${where} ORDER BY ${PLACE} LIMIT 1`)
    .all(...given);
  expect(step?.detail).toContain(`(${columns})>(`);
  expect(more).toEqual([]);
});
