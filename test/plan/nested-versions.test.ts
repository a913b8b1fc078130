// Tests rule nested-access: upstream paths inside one another on one service, in one API and across files.
import { describe, expect, it } from 'vitest';
import { pathInside } from '../../gateway/plan/upstreams/upstream-places.ts';
import { workspace } from './workspace.ts';

const versions = (second: string): string => `api: hist
base: /hist
resolve: [ { header: API-Version }, { default: v2 } ]
access: { identity: main, scopes: any }
upstreams:
  v1: { targets: [http://127.0.0.1:4001], path: / }
  v2: { targets: ["http://localhost:4001"], path: ${second} }
versions:
  v1: { released: 2024-06-01 }
  v2: { released: 2025-06-01 }
`;

it('nested-access names a version inside the path of another', async () => {
  await using files = await workspace({ 'policies/hist.yaml': versions('/Two') });
  expect(await files.problems()).toEqual([
    'policies/hist.yaml:7 «v2» warning: requests for v1 whose path after the base begins with /Two get 400: the service would read them as requests for v2 (give each version a path that is not inside another, or write rules: { nested-access: off })',
  ]);
});

it('nested-access has no findings if no path is inside another', async () => {
  const apart = versions('/two').replace('path: /,', 'path: /one,').replace('path: / }', 'path: /one }');
  await using other = await workspace({ 'policies/hist.yaml': apart });
  expect(await other.problems()).toEqual([]);
});

it('nested-access counts the label that an upstream gets in front of its path', async () => {
  await using files = await workspace({ 'policies/hist.yaml': versions('/, version_as: path') });
  expect(await files.problems()).toEqual([expect.stringContaining('begins with /v2 get 400')]);
  await using apart = await workspace({
    'policies/hist.yaml': versions('/, version_as: path').replace(
      'path: / }',
      'path: /v1, version_as: none }',
    ),
  });
  expect(await apart.problems()).toEqual([]);
});

it('nested-access knows all names of one machine, and every outer API', async () => {
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
    'policies/c.yaml': api('c', known, 'https://0.0.0.0:4001', '/m/s'),
  });
  expect(await files.problems()).toEqual([expect.stringMatching(/^policies\/c\.yaml:2 .*policies\/b\.yaml/)]);
});

describe('VER-7: the servers of two versions', () => {
  const at = (host: string, port = ':4001', scheme = 'http') => ({
    targets: [{ origin: `${scheme}://${host}${port}` }],
    path: '',
  });
  const isInside = (one: ReturnType<typeof at>, other: ReturnType<typeof at>) =>
    pathInside(one, { ...other, path: '/v2' }) !== undefined;
  const same = [
    [
      'localhost',
      'LOCALHOST',
      'localhost.',
      '127.0.0.1',
      '127.1',
      '127.0.0.2',
      '127.255.255.254',
      '0.0.0.0',
      '0',
    ],
    [
      '10.0.0.7',
      '167772167',
      '0x0a.0.0.7',
      '[::ffff:10.0.0.7]',
      '[::ffff:a00:7]',
      '[0:0:0:0:0:FFFF:0A00:0007]',
    ],
    ['orders.internal', 'Orders.INTERNAL', 'orders.internal.', '%6frders.internal'],
    ['[fd00::7]', '[FD00:0::7]'],
  ];
  const local = [
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:2]',
    '[::ffff:0.0.0.0]',
  ];
  const groups = [[...(same[0] ?? []), ...local], ...same.slice(1)];

  it.each(groups)('are one, with the name %s', (...names) => {
    for (const one of names)
      for (const other of names)
        expect([one, other, isInside(at(one), at(other))]).toEqual([one, other, true]);
  });

  it('differ by host or port', () => {
    const firsts = groups.map(([first = '']) => first);
    for (const one of firsts)
      for (const other of firsts) expect(isInside(at(one), at(other)), `${one} ${other}`).toBe(one === other);
    expect(isInside(at('localhost'), at('localhost', ':4002'))).toBe(false);
    expect(isInside(at('128.0.0.1'), at('localhost'))).toBe(false);
    expect(isInside(at('127.example.com'), at('localhost'))).toBe(false);
    expect(isInside(at('[::2]'), at('[::]'))).toBe(false);
  });

  it('are one over http and https', () => {
    expect(isInside(at('localhost', ':4001', 'https'), at('localhost'))).toBe(true);
    expect(isInside(at('orders.internal', '', 'https'), at('orders.internal', ''))).toBe(true);
  });
});
