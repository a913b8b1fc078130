// Writes usage as CSV (RFC 4180): one line for each consumer of a version and operation.
import type { UsageRowBody } from './usage-answers.ts';

const COLUMNS = [
  'api',
  'version',
  'consumer',
  'known_by',
  'operation',
  'calls',
  'calls_last_7_days',
  'calls_7_days_before',
  'first_call',
  'last_call',
  'user_agents',
] as const;

/** Beginnings that a spreadsheet reads as a formula, full-width forms and skipped characters included. */
const FORMULA = /^\s*[=+\-@＝＋－＠]/;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

export function usageCsv(rows: readonly UsageRowBody[]): string {
  return `${COLUMNS.join(',')}\r\n${usageCsvLines(rows)}`;
}

/** Without the header line. */
export function usageCsvLines(rows: readonly UsageRowBody[]): string {
  const lines = rows.flatMap(({ api, version, consumer, via, operations }) =>
    operations.map(({ operation, calls, trend, firstCall, lastCall, agents }) => {
      const texts = [api, version, consumer, via, operation ?? ''].map(cell);
      const numbers = [calls, trend.week, trend.weekBefore].map(String);
      return [...texts, ...numbers, firstCall, lastCall, cell(agents.join(' | '))].join(',');
    }),
  );
  return lines.map((line) => `${line}\r\n`).join('');
}

function cell(text: string): string {
  const printable = text.replace(UNPRINTABLE, '?');
  const safe = FORMULA.test(printable) ? `'${printable}` : printable;
  return /[",']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
