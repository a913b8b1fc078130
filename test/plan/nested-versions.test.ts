// Upstreams that stand inside one another on one service, within an API and across files.
// The rule nested-access says so where their rules differ.
import { expect, it } from 'vitest';
import { workspace } from './workspace.ts';

const versions = (second: string, rest = ''): string => `api: hist
base: /hist
resolve: [ { header: API-Version }, { default: v2 } ]
access: { identity: main, scopes: any }
upstreams:
  v1: { targets: [http://127.0.0.1:4001], path: / }
  v2: { targets: ["http://localhost:4001"], path: ${second} }
versions:
  v1: { released: 2024-06-01 }
  v2: { released: 2025-06-01${rest} }
`;

it('names a version that stands inside the path of another with other rules', async () => {
  const ruled = ', operations: { GET /secure: { access: { scopes: [s:admin] } } }';
  await using files = await workspace({ 'policies/hist.yaml': versions('/two', ruled) });
  expect(await files.problems()).toEqual([
    'policies/hist.yaml:7 «v2» warning: requests for v1 reach this path of the service too, by the rules of v1 (give each version a path of its own, none inside another; or say rules: { nested-access: off })',
  ]);
});

it('has nothing to say where the rules are the same, or no path lies inside another', async () => {
  await using same = await workspace({ 'policies/hist.yaml': versions('/two') });
  expect(await same.problems()).toEqual([]);
  const apart = versions(
    '/two',
    ', sunset: 2027-06-01, deprecated: 2026-06-01, guide: https://docs.example.com/2',
  )
    .replace('path: /,', 'path: /one,')
    .replace('path: / }', 'path: /one }');
  await using other = await workspace({ 'policies/hist.yaml': apart });
  expect((await other.problems()).filter((each) => each.includes('reach this path'))).toEqual([]);
});

it('sees one machine under each of its names, and every API that stands around another', async () => {
  const api = (name: string, access: string, target: string, path: string): string => `api: ${name}
base: /${name}
access: ${access}
upstreams: { ${name}: { targets: ["${target}"], path: ${path} } }
versions: none
`;
  const known = '{ identity: main, scopes: any }';
  await using files = await workspace({
    'policies/a.yaml': api('a', known, 'http://127.0.0.1:4001', '/M'),
    'policies/b.yaml': api('b', 'public', 'http://127.0.0.1:4001', '/m'),
    'policies/c.yaml': api('c', known, 'http://localhost:4001', '/m/s'),
  });
  expect(await files.problems()).toEqual([expect.stringMatching(/^policies\/c\.yaml:2 .*policies\/b\.yaml/)]);
});
