// Tests successors beyond rules.test.ts: cycles of every kind, and operations that end.
import { describe, expect, it } from 'vitest';
import { workspace } from './workspace.ts';

const GUIDE = 'guide: https://docs.example.com/x';

async function said(versions: string, more = 'parallel-versions: off'): Promise<readonly string[]> {
  const labels = [...versions.matchAll(/^ {2}(v\d):/gm)].map(([, label]) => label);
  const upstreams = labels.map((label) => `  ${label}: { targets: [http://127.0.0.1:4001] }\n`).join('');
  await using files = await workspace({
    'policies/orders.yaml': `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" } ]
access: public
rules: { notice-period: off, successor-outlives: off, successor-released: off, migration-guide: off, ${more} }
upstreams:
${upstreams}versions:
${versions}`,
  });
  return (await files.problems()).map((problem) => problem.replace('policies/orders.yaml:', ''));
}

const version = (label: string, more: string) =>
  `  ${label}: { released: 2024-06-01, deprecated: 2026-01-15, sunset: 2027-06-01, ${GUIDE}, ${more} }\n`;

describe('successor-circle', () => {
  it('is reported once, at the newest version of the cycle, in any order of the file', async () => {
    const versions =
      version('v3', 'successor: v2') + version('v2', 'successor: v3') + version('v1', 'successor: v2');
    expect(await said(versions)).toEqual([
      '11 «v2» error: successors form a cycle: v3 -> v2 -> v3 (name a version that is newer than v3, or remove the successor)',
    ]);
  });

  it('includes redirects', async () => {
    const versions = version('v1', 'successor: v2') + version('v2', 'after: { redirect: v1 }');
    expect(await said(versions)).toEqual([
      '11 «v1» error: successors form a cycle: v2 -> v1 -> v2 (name a version that is newer than v2, or remove the successor)',
    ]);
  });

  it('leaves cycles of redirects only, and self-references, to other findings', async () => {
    const redirects = version('v1', 'after: { redirect: v2 }') + version('v2', 'after: { redirect: v1 }');
    expect(await said(redirects)).toEqual([
      expect.stringContaining('error: this is a redirect loop'),
      expect.stringContaining('error: this is a redirect loop'),
    ]);
    expect(await said(version('v1', 'successor: v1'))).toEqual([
      expect.stringContaining('error: a version cannot be its own successor'),
    ]);
  });
});

describe('successor-circle of operations', () => {
  const v1 = (operations: string, more = '') => version('v1', `${more}operations: { ${operations} }`);
  const cycle = (way: string) => [expect.stringContaining(`error: successors form a cycle: ${way} (`)];

  it.each([
    [
      'of two in one version',
      v1('GET /a: { successor: GET /b }, GET /b: { successor: GET /a }'),
      'GET /b -> GET /a -> GET /b',
    ],
    [
      'of three in any order, with another operation that leads to them',
      v1(
        'GET /z: { successor: GET /a }, GET /c: { successor: GET /a }, GET /a: { successor: GET /b }, GET /b: { successor: GET /c }',
      ),
      'GET /b -> GET /c -> GET /a -> GET /b',
    ],
    [
      'with other names of parameters',
      v1('"GET /a/{id}": { successor: "GET /b/{id}" }, "GET /b/{key}": { successor: "GET /a/{key}" }'),
      'GET /b/{key} -> GET /a/{key} -> GET /b/{key}',
    ],
    [
      'over two versions',
      v1('GET /a: { successor: v2 GET /b }') +
        version('v2', 'operations: { GET /b: { successor: v1 GET /a } }'),
      'GET /b -> v1 GET /a -> GET /b',
    ],
    [
      'by the successor of a version',
      version('v1', 'successor: v2') + version('v2', 'operations: { GET /b: { successor: v1 } }'),
      'GET /b -> v1 GET /b -> GET /b',
    ],
  ])('%s is reported once', async (_title, versions, way) => {
    expect(await said(versions)).toEqual(cycle(way));
  });

  it.each([
    ['a chain that ends', v1('GET /a: { successor: GET /b }, GET /b: { successor: GET /c }')],
    [
      'the same path in the next version',
      v1('GET /a: { successor: v2 }') + version('v2', 'operations: { GET /a: {} }'),
    ],
    ['another method', v1('GET /a: { successor: GET /b }, POST /b: { successor: POST /a }')],
  ])('%s is not a cycle', async (_title, versions) => {
    expect(await said(versions)).toEqual([]);
  });

  it('is reported even if the rule about single steps is off', async () => {
    const versions = v1(
      'GET /a: { successor: GET /b, after: redirect, sunset: 2027-05-01 }, GET /b: { successor: GET /a, after: redirect, sunset: 2027-05-02 }',
    );
    expect((await said(versions, 'operation-successor: off')).join()).toContain('form a cycle');
  });
});

describe('operation-successor', () => {
  const operations = (written: string, more = '') => version('v1', `${more}operations: { ${written} }`);
  const SHORT = `GET /find: { deprecated: 2026-01-15, sunset: 2026-08-01, ${GUIDE} }`;

  it.each([
    [
      'ends before the operation',
      `GET /a: { successor: GET /find, after: redirect, sunset: 2026-09-01 }`,
      'error',
    ],
    [
      'ends at the same instant as the operation',
      `GET /a: { successor: GET /find, after: redirect, sunset: 2026-08-01 }`,
      'error',
    ],
    ['ends before the version of the operation', `GET /a: { successor: GET /find }`, 'warning'],
  ])('a target that %s', async (_title, operation, severity) => {
    expect(await said(operations(`${operation}, ${SHORT}`))).toEqual([
      expect.stringMatching(
        new RegExp(`^\\d+ «GET /find» ${severity}: GET /a ends on .*, and GET /find has ended by then`),
      ),
    ]);
  });

  it('operations follow the redirect of their version if they name a successor there', async () => {
    const next = `  v2: { released: 2026-01-15, operations: { ${SHORT} } }\n`;
    const redirected = operations('GET /a: { successor: v2 GET /find }', 'after: { redirect: v2 }, ');
    expect(await said(redirected + next)).toEqual([
      expect.stringContaining('«v2 GET /find» error: GET /a ends on 2027-06-01, and v2 GET /find has ended'),
    ]);
  });

  it('uses the operation that a request would match: literals first, and GET for HEAD', async () => {
    const next = (more: string) => `  v2: { released: 2026-01-15, operations: { ${SHORT}${more} } }\n`;
    const first = operations('"GET /{id}": { successor: "v2 GET /{id}" }, HEAD /find: { successor: v2 }');
    expect(await said(first + next(''))).toEqual([
      expect.stringContaining('«v2» warning: HEAD /find ends on 2027-06-01, and v2 GET /find has ended'),
    ]);
    const second = operations('"GET /{id}": { successor: "v2 GET /{id}" }');
    const all = `, "GET /{any}": { deprecated: 2026-01-15, sunset: 2026-08-01, ${GUIDE} }`;
    expect(await said(second + next(all))).toEqual([
      expect.stringContaining('and v2 GET /{any} has ended by then'),
    ]);
  });

  it('within one version that ends as a whole, only a redirect is an error', async () => {
    expect(await said(operations('GET /a: { successor: GET /b, after: redirect }'))).toEqual([
      expect.stringMatching(
        /«GET \/b» error: GET \/a ends on 2027-06-01, and GET \/b has ended by then \(both end with v1: write an earlier/,
      ),
    ]);
    expect(await said(operations('GET /a: { successor: GET /b }'))).toEqual([]);
    const early = `GET /a: { successor: GET /b, after: redirect, sunset: 2027-05-01, ${GUIDE} }`;
    expect(await said(operations(early))).toEqual([]);
  });

  it('duplicate operations are reported once, by the check of names', async () => {
    const twice = operations(`"GET /{a}": {}, "GET /{b}": {}, GET /x: { successor: "GET /y" }`);
    expect(await said(twice)).toEqual([expect.stringContaining('matches the same requests')]);
  });
});
