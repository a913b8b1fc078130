// `sundial explain` with dates: forgotten, paused, an end before that of the version, and an earlier day.
import { describe, expect, it } from 'vitest';
import { workspace } from '../../plan/workspace.ts';
import { explain } from '../../support/file-commands.ts';
import { ORDERS, policies } from './explained-orders.ts';

/** Versions are dates, and there is only one. */
const FLOOR = `api: orders
base: /api/orders
resolve: [ { header: API-Version, match: floor } ]
access: public
versions:
  2026-01-01: { released: 2026-01-01, deprecated: 2026-01-15, sunset: 2027-01-15 }
`;

/** The API as a whole has the dates. */
const SHARED = `api: orders
base: /api/orders
forgotten: 2028-01-15
resolve: [ { path: "/api/{version}/orders" } ]
access: public
deprecated: 2026-01-15
sunset: "2027-01-15"
versions: { v1: { released: 2024-06-01 } }
`;

describe('explain', () => {
  it.each([
    ['in the path', ORDERS, 'GET /api/v1/orders', [], 10],
    ['in a header', ORDERS, 'GET /api/orders', ['API-Version: 1'], 10],
    ['requested by a later day', FLOOR, 'GET /api/orders', ['API-Version: 2026-02-01'], 6],
    ['with the date of its API', SHARED, 'GET /api/v1/orders', [], 3],
  ])(
    'STAT-1: names the line that makes a version unknown: a version %s',
    async (_how, text, request, headers, line) => {
      await using files = await workspace({
        'policies/orders.yaml': text.replace('sunset: 2027-01-15', '$&, forgotten: 2028-01-15'),
      });
      const refusedAt = async (now: number) =>
        /^refused .*/m.exec((await explain(files, request, { headers, now })).text)?.[0].split(/ {2,}/);
      expect(await refusedAt(Date.UTC(2028, 0, 15))).toEqual([
        'refused',
        'version_unknown',
        expect.stringMatching(/^(v1|2026-01-01) forgotten since 2028-01-15$/),
        `policies/orders.yaml:${line}`,
      ]);
      expect((await refusedAt(Date.UTC(2028, 0, 15) - 1))?.[1]).toBe('version_retired');
    },
  );

  it('SUN-2: applies the pause of --paused, and otherwise states that it assumes none', async () => {
    await using files = await workspace(policies);
    const now = Date.UTC(2027, 0, 16);
    const request = 'GET /api/v1/orders';
    const refused = await explain(files, request, { now });
    expect(refused.text).toMatch(/^stage +retired .* \(assumed: no pause\)/m);
    const { exitCode, text } = await explain(files, request, {
      now,
      paused: Date.UTC(2027, 0, 20),
      as: 'acme',
    });
    expect(exitCode).toBe(0);
    expect(text).toMatch(
      /^stage +deprecated +deprecated since 2026-01-15, sunset 2027-01-20, in 4 days +policies/m,
    );
    expect(text).toMatch(/^paused +until 2027-01-20 +brownouts and retirement are on hold$/m);
    expect(text).toContain('  sunset: Wed, 20 Jan 2027 00:00:00 GMT\n');
    expect(text).toContain('next      2027-01-20            v1 retired: 410 Gone, version_retired\n');
    expect((await explain(files, request, { now: now - 2 * 86_400_000 })).text).not.toContain('pause');
  });

  it.each([
    ['rfc9745', 'announces deprecated 2026-12-15, sunset 2028-01-15'],
    ['"true"', 'announces sunset 2028-01-15'],
  ])(
    'DEP-8: lists the dates that an announcement publishes, with deprecation_header %s',
    async (form, announces) => {
      const dates =
        'announced: 2026-12-01, deprecated: 2026-12-15, sunset: 2028-01-15, operations: { GET /old: { deprecated: 2026-10-01 } }';
      const later = ORDERS.replace('deprecated: 2026-01-15, sunset: 2027-01-15', dates);
      await using files = await workspace({
        'policies/orders.yaml': `deprecation_header: ${form}\n${later}`,
      });
      const { text } = await explain(files, 'GET /api/v1/orders', { as: 'acme' });
      expect(text).toContain(`next      2026-12-01            v1 active: forwarded, ${announces}\n`);
      const { text: old } = await explain(files, 'GET /api/v1/orders/old', { as: 'acme' });
      expect(old).toMatch(
        /^next +2026-12-01 +GET \/old of v1 deprecated: forwarded, .*announces sunset 2028-01-15$/m,
      );
    },
  );

  it('names an operation that ends before its version', async () => {
    const early = ORDERS.replace(
      'successor: v2',
      'successor: v2, operations: { GET /old: { sunset: 2026-12-15 } }',
    );
    await using files = await workspace({ 'policies/orders.yaml': early });
    const { text } = await explain(files, 'GET /api/v1/orders/old', { as: 'acme' });
    expect(text).toContain(
      'next      2026-12-15            GET /old of v1 retired: 410 Gone, version_retired\n',
    );
  });

  it('VER-7: names the other reading of the path that refuses the request', async () => {
    const ended = ORDERS.replace(
      'successor: v2',
      'successor: v2, operations: { GET /old: { sunset: 2026-02-15 } }',
    );
    await using files = await workspace({ 'policies/orders.yaml': ended });
    const { text } = await explain(files, 'GET /api/v1/orders/OLD', { as: 'acme' });
    expect(text).toMatch(/^read as +GET \/old +a service may read the path so, and these rules apply too/m);
    expect(text).toMatch(/^refused +version_retired/m);
    expect((await explain(files, 'GET /api/v1/orders/old', { as: 'acme' })).text).not.toContain('read as');
  });

  it.each([
    ['sunset: 2026-11-01', 'its own sunset, even if its version retires later', 18],
    ['deprecated: 2025-11-01', 'the extension of its version', 14],
  ])('an operation with %s names the line of %s', async (own, _line, line) => {
    await using files = await workspace({
      'policies/orders.yaml': ORDERS.replace(
        / {2}v1: \{ released.*\n/,
        `  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2026-07-15${own.startsWith('sunset') ? '\n    retired: 2027-01-15' : ''}
    extended: [{ to: 2026-11-10, announced: 2026-01-20, why: late }]
    operations:
      GET /old:
        ${own}
`,
      ),
    });
    const { text } = await explain(files, 'GET /api/v1/orders/old', { as: 'acme' });
    expect(text).toMatch(new RegExp(`^stage .*policies/orders.yaml:${line}$`, 'm'));
  });

  it('explains an earlier day with the current files', async () => {
    const gone = ORDERS.replace('  v1: { targets: [http://127.0.0.1:4001] }\n', '').replace(
      '2027-01-15',
      '2026-06-01',
    );
    await using files = await workspace({ 'policies/orders.yaml': gone });
    const { exitCode, text } = await explain(files, 'GET /api/v1/orders', {
      as: 'acme',
      now: Date.UTC(2026, 4, 1),
    });
    expect(exitCode).toBe(0);
    expect(text).toMatch(
      /^stage +retired +no upstream is left, deprecated since 2026-01-15, sunset 2026-06-01,/m,
    );
    expect(text).toContain('answer    410 Gone\n');
    expect(text).toContain('  sunset: Mon, 01 Jun 2026 00:00:00 GMT\n');
    expect(text).toContain('was retired on 2026-06-01');
    expect(text).not.toContain('warning:');
    expect(text).not.toContain('next ');
  });
});
