// Tests that leaving out or renaming a published version does not evade the rules for published dates.
import { describe, expect, it } from 'vitest';
import { comparePublished } from '../../gateway/plan/published/comparison.ts';
import { currentPoliciesOfViews } from '../../gateway/plan/published/current-policies.ts';
import { withoutOldEntries } from '../../gateway/plan/published/published-dates.ts';
import type { FormerVersion, PublishedEntry } from '../../gateway/plan/published/record.ts';
import { readRecorded } from '../../gateway/plan/published/recorded-files.ts';
import { NOW, ORDERS } from './workspace.ts';

const DAY = 86_400_000;

type Files = Readonly<Record<string, string>>;

const OPTIONS = { configFile: 'config/gateway.yaml', environment: {}, cwd: '/sundial', now: NOW };

/** The findings of each reload, and the resulting record. A refused reload does not change the record. */
async function reloads(...steps: readonly Files[]) {
  let recorded: readonly PublishedEntry[] = [];
  const said: (readonly string[])[] = [];
  for (const step of steps) {
    const written = Object.entries(step).map(([name, text]) => ({ kind: 'policy', name, text }) as const);
    const { views, files, problems } = await readRecorded(written, OPTIONS);
    const wrong = problems.find(({ severity }) => severity === 'error');
    if (wrong !== undefined) throw new Error(`not in order: ${wrong.message}`);
    const today = currentPoliciesOfViews(views, { complete: true, public: 'https://api.example.com' });
    const found = await comparePublished({ recorded, files, today }, OPTIONS);
    said.push(found.problems.map(({ rule, severity }) => `${severity} ${rule}`));
    if (found.problems.every(({ severity }) => severity !== 'error')) recorded = [...files, ...found.former];
  }
  return { said, former: recorded.filter((entry) => entry.kind === 'former') };
}

const orders = (text: string): Files => ({ orders: text });
const edit = (from: string | RegExp, to: string, text = ORDERS) => {
  const edited = text.replace(from, to);
  if (edited === text) throw new Error(`nothing to edit: ${String(from)}`);
  return edited;
};
const until = (day: string, text = ORDERS) => edit('sunset: 2027-01-15', `sunset: ${day}`, text);
const EARLIER = until('2026-12-31');
const WITHOUT_V1 = edit(/ {2}v1: \{ released.*\n/, '', edit(/ {2}v1: \{ targets.*\n/, ''));
const WITHOUT_DATES = edit('deprecated: 2026-01-15, sunset: 2027-01-15, ', '');
const PLANNED_AGAIN = edit(
  /v1: \{ released: .*/,
  'v1: { released: 2026-12-01, deprecated: 2026-12-02, sunset: 2027-01-15 }',
);
const WHOLE = (dates: string) => `api: orders
base: /api/orders
access: { identity: main, scopes: any }
${dates}upstreams: { any: { targets: [http://127.0.0.1:4001] } }
versions: none
`;
const operation = (sunset: string, path = 'GET /items/{id}') =>
  edit(
    'v2: { released: 2026-01-15',
    `v2: { released: 2026-01-15, operations: { "${path}": { deprecated: 2026-02-01, sunset: ${sunset} } }`,
  );
const UNDATED_OPERATION = edit(', sunset: 2027-06-01 }', ' }', operation('2027-06-01'));
const BY_DEFAULT = edit('default: v2', 'default: v1');
const planned = (day: string) =>
  edit('released: 2026-01-15', `released: ${day}`, edit(', successor: v2', ''));
const warned = (text: string) => `${text}rules: { sunset-rewritten: warning }\n`;

const REMOVED = ['warning version-removed'];
const CHANGED = ['warning dates-rewritten'];
const MOVED = ['warning urls-moved'];
const REWRITTEN = ['error sunset-rewritten'];

describe('a version that was left out for one reload', () => {
  it.each<readonly [string, readonly Files[], readonly (readonly string[])[]]>([
    ['a file, unchanged', [orders(ORDERS), {}, orders(ORDERS)], [[], REMOVED, []]],
    ['a file, with an earlier sunset', [orders(ORDERS), {}, orders(EARLIER)], [[], REMOVED, REWRITTEN]],
    [
      'a file, left out for two reloads',
      [orders(ORDERS), {}, {}, orders(EARLIER)],
      [[], REMOVED, [], REWRITTEN],
    ],
    [
      'a file, with another release',
      [orders(ORDERS), {}, orders(edit('released: 2024-06-01', 'released: 2024-07-01'))],
      [[], REMOVED, CHANGED],
    ],
    ['a file, under another file name', [orders(ORDERS), {}, { renamed: EARLIER }], [[], REMOVED, REWRITTEN]],
    [
      'an API, under another name with the same URLs',
      [orders(ORDERS), {}, orders(edit('api: orders', 'api: purchases', EARLIER))],
      [[], REMOVED, REWRITTEN],
    ],
    [
      'an API, with other URLs',
      [orders(ORDERS), {}, orders(edit(/\/orders/g, '/purchases'))],
      [[], REMOVED, [...MOVED, ...MOVED]],
    ],
    ['an API, without one of its versions', [orders(ORDERS), {}, orders(WITHOUT_V1)], [[], REMOVED, REMOVED]],
    [
      'an API, without one of its versions, which returns later',
      [orders(ORDERS), {}, orders(WITHOUT_V1), orders(EARLIER)],
      [[], REMOVED, REMOVED, REWRITTEN],
    ],
    [
      'an API, without versions',
      [orders(ORDERS), {}, orders(WHOLE('deprecated: 2026-01-01\nsunset: 2026-12-31\n'))],
      [[], REMOVED, [...REMOVED, ...REMOVED, ...REWRITTEN, ...MOVED]],
    ],
    ['a version, unchanged', [orders(ORDERS), orders(WITHOUT_V1), orders(ORDERS)], [[], REMOVED, []]],
    [
      'a version, with an earlier sunset',
      [orders(ORDERS), orders(WITHOUT_V1), orders(EARLIER)],
      [[], REMOVED, REWRITTEN],
    ],
    [
      'a version, and its API after it',
      [orders(ORDERS), orders(WITHOUT_V1), {}, orders(EARLIER)],
      [[], REMOVED, REMOVED, REWRITTEN],
    ],
    [
      'a version, under another label',
      [orders(ORDERS), orders(WITHOUT_V1), orders(EARLIER.replaceAll('v1: ', 'v1.0.0: '))],
      [[], REMOVED, REWRITTEN],
    ],
    [
      'the dates of a version',
      [orders(ORDERS), orders(WITHOUT_DATES), orders(EARLIER)],
      [[], [...CHANGED, ...CHANGED], REWRITTEN],
    ],
    [
      'a release, moved to a later day and back',
      [orders(ORDERS), orders(PLANNED_AGAIN), orders(EARLIER)],
      [[], [...CHANGED, ...CHANGED], [...REWRITTEN, ...CHANGED, ...CHANGED]],
    ],
    [
      'an extension, with the sunset it moved',
      [
        orders(edit('guide:', 'extended: [ { to: 2027-04-15, announced: 2026-09-01 } ], guide:')),
        orders(WITHOUT_DATES),
        orders(ORDERS),
      ],
      [[], [...CHANGED, ...CHANGED], REWRITTEN],
    ],
    [
      'an operation',
      [orders(operation('2027-06-01')), orders(ORDERS), orders(operation('2027-05-01'))],
      [[], [], REWRITTEN],
    ],
    [
      'the sunset of an operation that is still written, for two reloads',
      [
        orders(operation('2027-06-01')),
        orders(UNDATED_OPERATION),
        orders(`${UNDATED_OPERATION}contacts: { acme: api@acme.example }\n`),
        orders(operation('2027-05-01')),
      ],
      [[], [], [], REWRITTEN],
    ],
    [
      'an operation, with another name of its parameter',
      [orders(operation('2027-06-01')), orders(ORDERS), orders(operation('2027-05-01', 'GET /items/{item}'))],
      [[], [], REWRITTEN],
    ],
    [
      'an operation, whose version now ends earlier',
      [
        orders(operation('2027-06-01')),
        orders(ORDERS),
        orders(
          edit(
            'v2: { released: 2026-01-15',
            'v2: { released: 2026-01-15, deprecated: 2026-03-01, sunset: 2027-04-01',
          ),
        ),
      ],
      [[], [], REWRITTEN],
    ],
    [
      'the sunset of an API that gets versions',
      [orders(WHOLE('deprecated: 2026-01-01\nsunset: 2027-06-01\n')), orders(WHOLE('')), orders(BY_DEFAULT)],
      [[], [...CHANGED, ...CHANGED], REWRITTEN],
    ],
    [
      'an API that got versions earlier',
      [
        orders(WHOLE('deprecated: 2026-01-01\nsunset: 2027-06-01\n')),
        orders(until('2027-06-15', BY_DEFAULT)),
        {},
        orders(until('2027-06-10', BY_DEFAULT)),
      ],
      [[], [], REMOVED, REWRITTEN],
    ],
    [
      'the sunset of a version whose API no longer has versions',
      [orders(ORDERS), orders(WHOLE('')), orders(WHOLE('deprecated: 2026-01-15\nsunset: 2026-12-31\n'))],
      [[], [...REMOVED, ...REMOVED, ...MOVED], REWRITTEN],
    ],
    [
      'a planned version',
      [orders(planned('2026-12-15')), {}, orders(planned('2026-12-25'))],
      [[], REMOVED, []],
    ],
  ])('%s', async (_name, steps, expected) => {
    const { said } = await reloads(...steps);
    expect(said).toEqual(expected);
  });

  it('is forgotten when it returns, even with another date if the rule is a warning', async () => {
    const { said, former } = await reloads(orders(ORDERS), {}, orders(warned(EARLIER)), orders(EARLIER));
    expect(said).toEqual([[], REMOVED, ['warning sunset-rewritten'], []]);
    expect(former).toEqual([]);
  });

  it('keeps the later of its recorded dates', async () => {
    const later = until('2027-02-15');
    const { said, former } = await reloads(orders(ORDERS), orders(later), {}, orders(until('2027-02-01')));
    expect(said).toEqual([[], CHANGED, REMOVED, REWRITTEN]);
    expect(former).toMatchObject([
      { api: 'orders', label: 'v1', sunset: Date.UTC(2027, 1, 15) },
      { api: 'orders', label: 'v2' },
    ]);
  });
});

describe('a version that replaces another without a gap', () => {
  it.each<readonly [string, Files, Files, readonly string[]]>([
    [
      'an API of another name',
      orders(ORDERS),
      orders(edit('api: orders', 'api: purchases', EARLIER)),
      REWRITTEN,
    ],
    ['the same dates under another name', orders(ORDERS), orders(edit('api: orders', 'api: purchases')), []],
    [
      'another API, while the name goes elsewhere',
      orders(ORDERS),
      {
        orders: edit(/\/orders/g, '/elsewhere'),
        purchases: edit('api: orders', 'api: purchases', EARLIER),
      },
      REWRITTEN,
    ],
    [
      'two APIs, one of which has the version of its places',
      orders(ORDERS),
      {
        orders: edit('resolve: [ { path: "/api/{version}/orders" }, ', 'resolve: [ ', WITHOUT_V1),
        old: edit('base: /api/orders', 'base: /api/old', edit('api: orders', 'api: old', EARLIER)),
      },
      REWRITTEN,
    ],
    ['another label of its major', orders(ORDERS), orders(EARLIER.replaceAll('v1: ', 'v1.0.0: ')), REWRITTEN],
    ['the same dates by that label', orders(ORDERS), orders(ORDERS.replaceAll('v1: ', 'v1.0.0: ')), []],
    [
      'an operation that ends before the version it is of',
      orders(ORDERS),
      orders(
        edit('sunset: 2027-01-15', 'sunset: 2027-01-15, operations: { GET /search: { sunset: 2026-12-31 } }'),
      ),
      REWRITTEN,
    ],
    [
      'a version that ends before its operation was to',
      orders(operation('2027-06-01')),
      orders(
        edit(
          'v2: { released: 2026-01-15',
          'v2: { released: 2026-01-15, deprecated: 2026-03-01, sunset: 2027-04-01',
        ),
      ),
      REWRITTEN,
    ],
    [
      'a host of its own',
      orders(ORDERS),
      orders(edit('base:', 'host: orders.example.com\nbase:')),
      [...MOVED, ...MOVED],
    ],
    ['the same host, spelled out', orders(ORDERS), orders(edit('base:', 'host: api.example.com\nbase:')), []],
  ])('%s', async (_name, before, after, expected) => {
    const { said } = await reloads(before, after);
    expect(said).toEqual([[], expected]);
  });
});

describe('a remembered version', () => {
  const former = (n: number, more: Partial<FormerVersion> = {}): FormerVersion => ({
    kind: 'former',
    api: `api-${n}`,
    label: 'v1',
    places: [],
    left: NOW - DAY,
    released: NOW - 1000 * DAY,
    ...more,
  });

  it('is dropped after two years, unless its sunset is in the future', () => {
    const long = { left: NOW - 730 * DAY };
    const pending = [
      former(1, { ...long, sunset: NOW + 1 }),
      former(2, { ...long, sunset: NOW - DAY, extended: NOW + 1 }),
      former(3, { ...long, operations: { 'GET /': NOW + 1 } }),
      former(4, { left: NOW - 730 * DAY + 1 }),
    ];
    const past = [former(5, long), former(6, { ...long, sunset: NOW }), former(7, { forgotten: NOW })];
    expect(withoutOldEntries([...pending, ...past], NOW)).toEqual(pending);
  });

  it('is dropped above fifty thousand, those with a past sunset first, then the oldest', () => {
    const some = Array.from({ length: 50_000 }, (_, n) => former(n, { left: NOW - n }));
    const waiting = former(-1, { left: NOW - 60_000, sunset: NOW + DAY });
    const kept = withoutOldEntries([...some, waiting], NOW);
    expect(kept).toHaveLength(50_000);
    expect(kept[0]).toBe(waiting);
    expect(kept.at(-1)?.api).toBe('api-49998');
  });
});
