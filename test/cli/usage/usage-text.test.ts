// Usage as tables and CSV, also with hostile consumer names.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { UsageAnswer, UsageRowBody, UsedVersion } from '../../../gateway/api/usage-answers.ts';
import { usageCsv } from '../../../gateway/api/usage-csv.ts';
import { cell } from '../../../gateway/cli/terminal-text.ts';
import { createBusiestRows } from '../../../gateway/cli/usage/usage-rows.ts';
import { trendText, usageText } from '../../../gateway/cli/usage/usage-text.ts';
import { anyText } from '../../support/any-text.ts';

const use = (more: Partial<UsageRowBody['operations'][number]> = {}) => ({
  operation: null,
  calls: 12,
  trend: { week: 5, weekBefore: 4 },
  firstCall: '2026-02-01T00:00:00Z',
  lastCall: '2026-11-20T14:03:22.123Z',
  agents: ['acme-sdk/1.2'],
  ...more,
});
const row = (more: Partial<UsageRowBody> = {}): UsageRowBody => ({
  api: 'orders',
  version: 'v1',
  consumer: 'acme',
  via: 'token',
  calls: 12,
  trend: { week: 5, weekBefore: 4 },
  firstCall: '2026-02-01T00:00:00Z',
  lastCall: '2026-11-20T14:03:22.123Z',
  operations: [use()],
  ...more,
});
const version = (more: Partial<UsedVersion> = {}): UsedVersion => ({
  api: 'orders',
  version: 'v1',
  stage: 'deprecated',
  deprecated: '2026-01-15T00:00:00Z',
  sunset: '2027-04-15T00:00:00Z',
  successor: 'v2',
  consumers: 0,
  calls: 0,
  trend: { week: 0, weekBefore: 0 },
  lastCall: null,
  verdict: 'unused',
  summary: '0 calls in 30 days: safe to retire',
  operations: [],
  exceptions: [],
  ...more,
});

const ROWS = [
  row(),
  row({
    consumer: 'globex',
    via: 'key',
    calls: 94_550,
    trend: { week: 21_000, weekBefore: 22_000 },
    operations: [
      use({ operation: 'GET /', calls: 90_000, trend: { week: 21_000, weekBefore: 22_000 } }),
      use({
        operation: 'GET /search',
        calls: 4_000,
        lastCall: '2026-11-20T18:00:00Z',
        agents: ['old/1', 'globex/7'],
      }),
      use({ operation: 'POST /', calls: 500 }),
      use({ operation: 'DELETE /{id}', calls: 49 }),
      use({ calls: 1, agents: [] }),
    ],
  }),
  row({ consumer: '203.0.113.9', via: 'address', calls: 1, trend: { week: 0, weekBefore: 1 } }),
];
const VERSIONS = [
  version({ version: 'v0' }),
  version({
    verdict: 'called',
    summary: 'still called by 3 consumers, 3,101 calls a day',
    exceptions: [
      {
        consumer: 'acme',
        from: ['brownouts', 'sunset'],
        until: '2027-06-30T00:00:00Z',
        why: 'contract 4711',
        by: 'api-team',
        calls: 12,
        lastCall: '2026-11-20T14:03:22.123Z',
        summary: 'acme has an exception from brownouts and sunset until 2027-06-30',
      },
    ],
  }),
  version({
    api: 'search',
    version: 'none',
    stage: 'retired',
    sunset: '2026-02-01T00:00:00Z',
    successor: null,
    verdict: 'ended',
    summary: 'has ended',
  }),
];

function text(
  rows: readonly UsageRowBody[],
  versions: readonly UsedVersion[],
  {
    operations = false,
    colour = false,
    most = 50,
    filter = {},
    forgotten,
    off,
  }: {
    readonly operations?: boolean;
    readonly colour?: boolean;
    readonly most?: number;
    readonly filter?: { readonly consumer?: string; readonly api?: string };
    readonly forgotten?: string;
    readonly off?: true;
  } = {},
): string {
  const kept = createBusiestRows(most);
  kept.add(rows);
  const answer: UsageAnswer = {
    now: '2026-11-20T19:00:00Z',
    since: '2026-10-21',
    recording: true,
    began: '2026-01-02T10:00:00Z',
    ...(forgotten !== undefined && { kept: forgotten }),
    ...(off && { recording: false, began: null }),
    versions: [...versions],
    consumers: [],
    next: null,
  };
  return usageText({ answer, rows: kept, operations, filter, colour });
}

const END = `Counted from 2026-10-21 to 2026-11-20 19:00 UTC by the gateway's clock; the ledger begins 2026-01-02 10:00.
Trend: the last seven whole days compared with the seven days before.
`;

describe('the table', () => {
  it('says that nothing is counted while the ledger is off', () => {
    expect(text(ROWS, VERSIONS, { off: true })).toContain('clock; the ledger is off and counts nothing.\n');
  });

  it('says which days the ledger has deleted', () => {
    expect(text(ROWS, VERSIONS, { forgotten: '2026-10-21T00:00:00Z' })).toContain(END);
    expect(text(ROWS, VERSIONS, { forgotten: '2026-11-14T00:00:00Z' })).toContain(
      'the ledger begins 2026-01-02 10:00, and keeps no records before 2026-11-14.\n',
    );
  });

  it('has a block for each version: dates, verdict, consumers by their calls, exceptions', () => {
    expect(text(ROWS, VERSIONS)).toBe(`\
orders v0  deprecated since 2026-01-15, sunset 2027-04-15 in 145 days, successor v2
  0 calls in 30 days: safe to retire

orders v1  deprecated since 2026-01-15, sunset 2027-04-15 in 145 days, successor v2
  still called by 3 consumers, 3,101 calls a day
    CONSUMER     KNOWN BY   CALLS  TREND  LAST CALL (UTC)   OPERATIONS                          USER AGENT
    globex       key       94,550   -5 %  2026-11-20 14:03  GET /, GET /search, POST /, 2 more  globex/7
    acme         token         12  +25 %  2026-11-20 14:03  -                                   acme-sdk/1.2
    203.0.113.9  address        1   gone  2026-11-20 14:03  -                                   acme-sdk/1.2
  acme has an exception from brownouts and sunset until 2027-06-30 (contract 4711; by api-team): 12 calls, the last 2026-11-20 14:03

search  retired, sunset 2026-02-01
  has ended

${END}`);
  });

  it('has a line for each operation if requested', () => {
    expect(text(ROWS.slice(1, 2), [version({ summary: null, verdict: null })], { operations: true })).toBe(`\
orders v1  deprecated since 2026-01-15, sunset 2027-04-15 in 145 days, successor v2
    CONSUMER        KNOWN BY   CALLS  TREND  LAST CALL (UTC)   USER AGENT
    globex          key       94,550   -5 %  2026-11-20 14:03  globex/7
      GET /                   90,000   -5 %  2026-11-20 14:03  acme-sdk/1.2
      GET /search              4,000  +25 %  2026-11-20 18:00  globex/7
      POST /                     500  +25 %  2026-11-20 14:03  acme-sdk/1.2
      DELETE /{id}                49  +25 %  2026-11-20 14:03  acme-sdk/1.2
      other calls                  1  +25 %  2026-11-20 14:03  -

${END}`);
  });

  it('shows the busiest consumers, and the sum of the others', () => {
    const crowd = Array.from({ length: 120 }, (_, index) =>
      row({ consumer: `c${index}`, calls: 1 + ((index * 37) % 120) }),
    );
    const shown = text(crowd, [version()], { most: 3 });
    expect(shown.match(/^ {4}c\d+ .*$/gm)?.map((line) => line.split(/ +/)[3])).toEqual(['120', '119', '118']);
    expect(shown).toContain(`    and 117 more consumers with 6,903 calls; --format csv shows all\n`);
  });

  it('says that nothing is deprecated and nothing was called', () => {
    expect(text([], [])).toBe('The policies have no deprecated version, and the ledger has no calls.\n');
  });

  it.each([
    [{ consumer: 'acme' }, 'The ledger has no call of acme since 2026-10-21 for this query.\n'],
    [{ api: 'orders' }, 'orders has nothing deprecated, and the ledger has no calls of it.\n'],
  ])('speaks only of what the filter %j selects', (filter, said) => {
    expect(text([], [], { filter })).toBe(said);
  });

  it('has escape sequences only with colours', () => {
    expect(text([], VERSIONS, { colour: true })).toContain(
      '\u001b[32m0 calls in 30 days: safe to retire\u001b[0m',
    );
    expect(text(ROWS, VERSIONS)).not.toContain('\u001b');
  });

  it.each([
    [0, 0, '-'],
    [3, 0, 'new'],
    [0, 3, 'gone'],
    [3, 3, '0 %'],
    [1, 3, '-67 %'],
    [9_000, 3, '+299,900 %'],
  ])('shows a week of %i calls after one of %i as %s', (week, weekBefore, expected) => {
    expect(trendText({ week, weekBefore })).toBe(expected);
  });
});

const HOSTILE: readonly (readonly [what: string, name: string, shown: string])[] = [
  ['escape sequences', '\u001b[2J\u001b]0;owned\u0007', '?[2J?]0;owned?'],
  ['right-to-left marks', 'moc\u202Eelgoog', 'moc?elgoog'],
  ['line ends', 'a\r\nb\u2028c\u2029d\u0085e', 'a??b?c?d?e'],
  ['combining marks', 'z\u0300\u0301\u0302algo', 'zalgo'],
  ['half a surrogate pair', '\ud800', '?'],
  ['quotes', '"quoted"', '"quoted"'],
  ['5,000 characters', 'x'.repeat(5_000), `${'x'.repeat(39)}…`],
  ['characters beyond the basic plane', '🌞'.repeat(41), `${'🌞'.repeat(39)}…`],
];

describe('hostile consumer names', () => {
  it.each(HOSTILE)('are shown harmless, with %s', (_, consumer, expected) => {
    const agents = [consumer];
    const shown = text([row({ consumer, operations: [use({ operation: consumer, agents })] })], [version()]);
    const line = shown.split('\n').find((each) => each.includes('token')) ?? '';
    expect(line.startsWith(`    ${expected} `)).toBe(true);
    expect(shown).not.toMatch(/[^\P{C}\n]|[\u2028\u2029]/u);
  });

  it('stay in their cell and do not widen it', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 60 }), (name, columns) => {
        const shown = cell(name, columns);
        expect([...shown].length).toBeLessThanOrEqual(columns);
        expect(shown).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});

/** Parses CSV by RFC 4180. */
function cells(csv: string): readonly (readonly string[])[] {
  expect(csv.endsWith('\r\n')).toBe(true);
  return csv
    .slice(0, -2)
    .split('\r\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
      ),
    );
}

describe('CSV', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['  =1+1', "'  =1+1"],
    ['＝1', "'＝1"],
    ['\t=1', '?=1'],
    ['a=1', 'a=1'],
    ['a,"b"', 'a,"b"'],
    ['a\r\nb', 'a??b'],
    [' a', ' a'],
  ])('writes %j as %j', (name, expected) => {
    const agents = [name];
    const [, line] = cells(
      usageCsv([row({ consumer: name, operations: [use({ operation: name, agents })] })]),
    );
    expect([line?.[2], line?.[4], line?.[10]]).toEqual([expected, expected, expected]);
  });

  it('has a line per operation with eleven cells, and no cell starts a formula', () => {
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1, maxLength: 4 }), (names) => {
        const table = cells(usageCsv(names.map((consumer) => row({ consumer }))));
        expect(table).toHaveLength(names.length + 1);
        for (const line of table) {
          expect(line).toHaveLength(11);
          for (const each of line) expect(each).not.toMatch(/^\s*[=+\-@]|[\p{C}\p{Zl}\p{Zp}]/u);
        }
      }),
    );
  });
});
