// Which of the ledger's rows are asked for, and in what order, as SQLite is to be told: so that an index leads to each page.
// A part of ledger-reading.ts.
import type { SQLInputValue } from 'node:sqlite';
import type { UsageFilter } from '../../policy/usage/ledger.ts';
import type { UsagePlace } from '../../policy/usage/place.ts';

/** Words of SQL, and the value of each `?` in them. */
export interface Condition {
  readonly text: string;
  readonly given: readonly SQLInputValue[];
}

const COLUMNS = ['api', 'version', 'consumer', 'via', 'operation'] as const;

/** The columns by which records are ordered. */
export const PLACE = COLUMNS.join(', ');

type Fixed = Readonly<Partial<Record<(typeof COLUMNS)[number], string>>>;

/** Only the conditions there are, so that each combination is looked up in the index that it fits. */
export function conditionsOf(filter: Omit<UsageFilter, 'since'>, after: UsagePlace | undefined): Condition {
  const fixed: Fixed = filter;
  const parts: Condition[] = [];
  for (const column of COLUMNS) {
    const value = fixed[column];
    if (value !== undefined) parts.push({ text: `${column} = ?`, given: [value] });
  }
  if (after !== undefined) parts.push(behind(after, fixed));
  return {
    text: parts.length === 0 ? 'TRUE' : parts.map(({ text }) => text).join(' AND '),
    given: parts.flatMap(({ given }) => given),
  };
}

/**
 * Rows behind a place, of those that have `fixed`. A fixed column stands in no comparison: with it there, SQLite takes the
 * index for the fixed columns alone, and each page would look at every row before its place again.
 */
function behind(after: UsagePlace, fixed: Fixed): Condition {
  const columns: string[] = [];
  const given: string[] = [];
  for (const [index, column] of COLUMNS.entries()) {
    const least = after[index] ?? '';
    const value = fixed[column];
    const order = value === undefined ? 0 : inOrder(value, least);
    // Among equals so far the fixed column decides, whatever stands behind it.
    if (order !== 0) return compared(columns, order > 0 ? '>=' : '>', given);
    if (value !== undefined) continue;
    columns.push(column);
    given.push(least);
  }
  return compared(columns, '>', given);
}

function compared(columns: readonly string[], operator: '>' | '>=', given: readonly string[]): Condition {
  if (columns.length === 0) return { text: operator === '>' ? 'FALSE' : 'TRUE', given: [] };
  return { text: `(${columns.join(', ')}) ${operator} (${given.map(() => '?').join(', ')})`, given };
}

/** As SQLite orders texts: by their bytes. */
function inOrder(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
