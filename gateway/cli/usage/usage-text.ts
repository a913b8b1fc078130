// Usage as text: for each version whether it is safe to retire, its callers, and its exceptions.

import type { UsageAnswer, UsageRowBody, UsedVersion } from '../../api/usage-answers.ts';
import { plural } from '../../plan/problems.ts';
import { DAY_MS } from '../../policy/contract.ts';
import { counted, parseInstant } from '../../policy/notation.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import { type Column, cell, moment, printable, tableLines } from '../terminal-text.ts';
import type { BusiestRows } from './usage-rows.ts';

export interface UsageLook {
  readonly answer: UsageAnswer;
  readonly rows: BusiestRows;
  readonly operations: boolean;
  readonly filter: {
    readonly consumer?: string | undefined;
    readonly api?: string | undefined;
    readonly version?: string | undefined;
  };
  readonly colour: boolean;
}

const COLUMNS: readonly Column[] = [
  { heading: 'CONSUMER' },
  { heading: 'KNOWN BY' },
  { heading: 'CALLS', align: 'right' },
  { heading: 'TREND', align: 'right' },
  { heading: 'LAST CALL (UTC)' },
];
const OPERATIONS: Column = { heading: 'OPERATIONS' };
const AGENT: Column = { heading: 'USER AGENT' };

export function usageText({ answer, rows, operations, filter, colour }: UsageLook): string {
  const { versions = [], now, since, began, kept = null, recording } = answer;
  const blocks = versions.map((version) => [
    ...heading(version, now, colour),
    ...table(rows, version, operations),
    ...exceptionLines(version),
    '',
  ]);
  const begins = began === null ? 'the ledger has no records yet' : `the ledger begins ${minute(began)}`;
  const off = 'is off and counts nothing';
  const from = recording ? begins : began === null ? `the ledger ${off}` : `${begins}, and ${off}`;
  const forgotten =
    kept !== null && kept.slice(0, since.length) > since
      ? `, and keeps no records before ${moment(kept)}`
      : '';
  const last = [
    `Counted from ${since} to ${minute(now)} UTC by the gateway's clock; ${from}${forgotten}.`,
    'Trend: the last seven whole days compared with the seven days before.',
  ];
  return [...(blocks.length === 0 ? [nothing(filter, since)] : [...blocks.flat(), ...last])]
    .map((line) => `${line}\n`)
    .join('');
}

function nothing({ consumer, api, version }: UsageLook['filter'], since: string): string {
  if (consumer !== undefined)
    return `The ledger has no call of ${printable(consumer)} since ${since} for this query.`;
  const part = [api, version].filter((each) => each !== undefined).join(' ');
  return part === ''
    ? 'The policies have no deprecated version, and the ledger has no calls.'
    : `${printable(part)} has nothing deprecated, and the ledger has no calls of it.`;
}

function heading(version: UsedVersion, now: string, colour: boolean): readonly string[] {
  const { api, version: label, stage, deprecated, sunset, successor, verdict, summary } = version;
  const name = printable(label === UNVERSIONED ? api : `${api} ${label}`);
  const dates = [
    stage === 'deprecated' && deprecated !== null
      ? `deprecated since ${moment(deprecated)}`
      : (stage ?? 'not in the policies'),
    ...(sunset === null ? [] : [`sunset ${moment(sunset)}${daysLeft(now, sunset)}`]),
    ...(successor === null ? [] : [`successor ${successor}`]),
  ];
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const line = `${paint(1, name)}  ${printable(dates.join(', '))}`;
  if (summary === null) return [line];
  const decided = (version.decides?.summaries ?? []).map((each) => `  ${printable(each)}`);
  return [line, `  ${verdict === 'unused' ? paint(32, printable(summary)) : printable(summary)}`, ...decided];
}

function daysLeft(now: string, sunset: string): string {
  const [from, to] = [now, sunset].map((each) => parseInstant(each.replace(/\.\d+(?=Z$)/, '')));
  if (from === undefined || to === undefined || to <= from) return '';
  return ` in ${plural(Math.floor((to - from) / DAY_MS), 'day')}`;
}

function table(rows: BusiestRows, { api, version }: UsedVersion, operations: boolean): readonly string[] {
  const { busiest, others } = rows.of(api, version);
  if (busiest.length === 0) return [];
  const columns = operations ? [...COLUMNS, AGENT] : [...COLUMNS, OPERATIONS, AGENT];
  const lines = tableLines(
    columns,
    busiest.flatMap((row) => (operations ? operationCells(row) : [cells(row)])),
  );
  const more =
    others.consumers === 0
      ? []
      : [
          `and ${counted(others.consumers, 'more consumer')} with ${counted(others.calls, 'call')}; --format csv shows all`,
        ];
  return [...lines, ...more].map((line) => `    ${line}`);
}

function cells(row: UsageRowBody): readonly string[] {
  return [...counts(row.consumer, row.via, row), operationNames(row), agentOf(row.operations)];
}

function operationCells(row: UsageRowBody): readonly (readonly string[])[] {
  const each = row.operations.toSorted((one, other) => other.calls - one.calls);
  return [
    [...counts(row.consumer, row.via, row), agentOf(row.operations)],
    ...each.map((use) => [...counts(`  ${use.operation ?? OTHERS}`, '', use), agentOf([use])]),
  ];
}

function counts(
  name: string,
  via: string,
  { calls, trend, lastCall }: Pick<UsageRowBody, 'calls' | 'trend' | 'lastCall'>,
): readonly string[] {
  return [cell(name, 40), cell(via, 12), calls.toLocaleString('en-US'), trendText(trend), minute(lastCall)];
}

/** Calls that match no operation of the policy. */
const OTHERS = 'other calls';
const NAMED = 3;

function operationNames({ operations }: UsageRowBody): string {
  const names = operations
    .toSorted((one, other) => other.calls - one.calls)
    .map(({ operation }) => operation ?? OTHERS);
  if (names.length === 1 && names[0] === OTHERS) return '-';
  const rest = names.length - NAMED;
  return cell([...names.slice(0, NAMED), ...(rest > 0 ? [`${rest} more`] : [])].join(', '), 48);
}

/** The user agent of the latest call. */
function agentOf(operations: UsageRowBody['operations']): string {
  const [latest] = operations.toSorted((one, other) => (one.lastCall < other.lastCall ? 1 : -1));
  return cell(latest?.agents.at(-1) ?? '-', 40);
}

/** In per cent. `new` for a week after one without calls. */
export function trendText({ week, weekBefore }: UsageRowBody['trend']): string {
  if (weekBefore === 0) return week === 0 ? '-' : 'new';
  if (week === 0) return 'gone';
  const change = Math.round((100 * (week - weekBefore)) / weekBefore);
  return `${change > 0 ? '+' : ''}${change.toLocaleString('en-US')} %`;
}

function exceptionLines({ exceptions }: UsedVersion): readonly string[] {
  return exceptions.map(({ summary, why, by, calls, lastCall }) => {
    const use = lastCall === null ? 'no call' : `${counted(calls, 'call')}, the last ${minute(lastCall)}`;
    return printable(`  ${summary} (${why}; by ${by}): ${use}`);
  });
}

/** Such as `2026-11-20 14:03`. */
function minute(instant: string): string {
  return cell(instant.slice(0, 16).replace('T', ' '), 16);
}
