// Tests that hints for nearly right values repeat the operator's words, and are valid when followed.
import { describe, expect, it } from 'vitest';
import { ORDERS, workspace } from './workspace.ts';

/** `ORDERS` with `written` at the place of `key`: at the top, or as a key of v1. */
function placed(key: string, written: string): string {
  const [version, below] = key.split(' ');
  if (below !== undefined && version === 'v1')
    return ORDERS.replace(/(v1: \{ released.*) \}\n/, `$1, ${below}: ${written} }\n`).replace(
      new RegExp(`${below}: [^,}]*, (?=.*${below}: )`),
      '',
    );
  const without = ORDERS.replace(new RegExp(`^${key}: .*\\n`, 'm'), '');
  return `${key}: ${written}\n${without}`;
}

const scopes = (text: string) => `{ identity: main, scopes: ${text} }`;
const leave = (from: string) => `[ { consumer: acme, until: 2027-01-10, from: ${from}, why: x, by: y } ]`;
const resolve = (entry: string) => `[ ${entry}, { header: API-Version } ]`;

/** Key, wrong value, hint, and the corrected value; default: the hint. */
const ROWS: readonly (readonly [key: string, wrong: string, cure: string, right?: string])[] = [
  [
    'access',
    scopes('[a]'),
    'scopes: { read: [a], write: [a] }: read is f',
    scopes('{ read: [a], write: [a] }'),
  ],
  [
    'access',
    scopes('a b'),
    'scopes: { read: [a, b], write: [a, b] }',
    scopes('{ read: [a, b], write: [a, b] }'),
  ],
  ['access', scopes('{ read: a }'), '[a], or any', scopes('{ read: [a] }')],
  [
    'access',
    'main',
    'access: { identity: main, scopes: any }, or access: public',
    '{ identity: main, scopes: any }',
  ],
  ['v1 after', 'redirect v2', 'after: { redirect: v2 }', '{ redirect: v2 }'],
  ['v1 after', '"redirect: v2"', 'after: { redirect: v2 }', '{ redirect: v2 }'],
  ['v1 after', 'v2', 'after: { redirect: v2 }', '{ redirect: v2 }'],
  ['v1 after', 'retire', 'after: { redirect: <version> }, or after: gone', 'gone'],
  ['limits', '600/1m', 'limits: { rate: 600/1m }', '{ rate: 600/1m }'],
  ['limits', '10 per second', 'limits: { rate: 10/1s }', '{ rate: 10/1s }'],
  ['v1 limits', '600/1m', 'limits: { rate: 600/1m }', '{ rate: 600/1m }'],
  ['limits', '{ rate: 600 }', '600/1m', '{ rate: 600/1m }'],
  ['limits', '{ rate: 600/min }', '600/1m', '{ rate: 600/1m }'],
  ['limits', '{ rate: "1,000 per hour" }', '1000/1h', '{ rate: 1000/1h }'],
  ['limits', '{ rate: 10rps }', '10/1s', '{ rate: 10/1s }'],
  ['limits', '{ rate: 9/1s, deprecated: 0.5 }', '50%', '{ rate: 9/1s, deprecated: 50% }'],
  ['limits', '{ rate: 9/1s, deprecated: 4 per second }', '4/1s', '{ rate: 9/1s, deprecated: 4/1s }'],
  ['limits', '{ rate: 9/1s, burst: 20/1s }', 'burst: 20: the window', '{ rate: 9/1s, burst: 20 }'],
  ['resolve', resolve('v2'), '{ default: v2 }', resolve('{ default: v2 }')],
  ['resolve', resolve('{ default: [v2] }'), 'v2, without the brackets', resolve('{ default: v2 }')],
  ['resolve', resolve('{ default: v3 }'), 'there are v1, v2', resolve('{ default: v2 }')],
  ['resolve', '[ { path: /v1/orders } ]', '"/{version}/orders"', '[ { path: "/{version}/orders" } ]'],
  ['resolve', '[ { path: "/:v/orders/" } ]', '"/{version}/orders"', '[ { path: "/{version}/orders" } ]'],
  ['v1 deprecated', '2026-1-5', '2026-01-05'],
  ['v1 deprecated', '15.1.2026', '2026-01-15'],
  ['v1 deprecated', '1/15/2026', '2026-01-15'],
  ['v1 deprecated', '20260115', '2026-01-15'],
  ['v1 deprecated', '2026-02-30', '2026-02-28'],
  ['v1 deprecated', '2026-01-15 10:00', '2026-01-15T10:00:00Z'],
  ['v1 deprecated', '2026-01-15T10:00:00.5+02:00', '2026-01-15T10:00:00+02:00'],
  ['v1 guide', 'http://docs.example.com/a b', 'https://docs.example.com/a%20b'],
  ['v1 guide', 'docs.example.com/v2', 'https://docs.example.com/v2'],
  ['deprecated_max_age', '2 weeks', '14d'],
  ['deprecated_max_age', '90', '90s'],
  ['max_body', '10 MiB', '10MB'],
  ['max_body', '1048576', '1MB'],
  ['base', 'api/orders/', '/api/orders'],
  ['cors', '"*"', 'cors: { origins: ["*"] }', '{ origins: ["*"] }'],
  ['echo', 'yes', 'true'],
  ['upstream_wins', 'on', 'true'],
  [
    'v1 exceptions',
    leave('brownout'),
    'from: [brownouts]: there are brownouts, sunset',
    leave('[brownouts]'),
  ],
  ['v1 exceptions', leave('"limit, Brownout"'), 'from: [brownouts, limits]', leave('[brownouts, limits]')],
  ['v1 exceptions', leave('all'), 'a list of brownouts, sunset, limits, freeze', leave('[brownouts]')],
  ['v1 exceptions', leave('[brownout]'), 'did you mean "brownouts"?', leave('[brownouts]')],
  ['api', 'My Orders', 'my-orders'],
];

describe('a nearly right value', () => {
  it('gets a hint, which has no findings when followed', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const said: unknown[] = [];
    for (const [key, wrong, cure, right = cure] of ROWS) {
      await files.write('policies/orders.yaml', placed(key, wrong));
      const found = (await files.load()).problems.find(({ severity }) => severity === 'error');
      await files.write('policies/orders.yaml', placed(key, right));
      const after = (await files.load()).problems.filter(({ severity }) => severity === 'error');
      said.push([key, wrong, found?.hint?.replace(/^write /, '').slice(0, cure.length), after.map(String)]);
    }
    expect(said).toEqual(ROWS.map(([key, wrong, cure]) => [key, wrong, cure, []]));
  });

  it.each([
    ['api: orders', 'default: v2\napi: orders', 'it is an entry of "resolve": [ { default: … } ]'],
    ['v2: { released', 'V2: { released', 'write v2'],
    ['1/6/2024', '1/6/2024', undefined],
    [
      'http://127.0.0.1:4001',
      'http://127.0.0.1:4001/x/',
      'write http://127.0.0.1:4001, and path: /x beside targets',
    ],
    ['http://127.0.0.1:4001', 'orders:4001', 'write http://orders:4001'],
    ['http://127.0.0.1:4001', 'orders.internal', 'write https://orders.internal'],
    ['{ targets: [http://127.0.0.1:4001] }', 'http://h:1', 'write v1: { targets: [http://h:1] }'],
    ['{ released: 2024-06-01,', '{ <<: { a: 1 }, released: 2024-06-01,', 'merge keys are not supported'],
    ['released: 2024-06-01,', 'released: 2024-06-01, brownouts: [ { on: 1 } ],', 'there are from, until'],
  ])('is corrected: %s instead of %s', async (from, to, hint) => {
    const text = ORDERS.replace(from === to ? '2024-06-01' : from, to);
    await using files = await workspace({ 'policies/orders.yaml': text });
    const hints = (await files.load()).problems.map((problem) => problem.hint);
    expect(hints).toContainEqual(hint === undefined ? undefined : expect.stringContaining(hint));
  });

  it('hints do not quote substituted values or passwords', async () => {
    const text = ORDERS.replace('{ read: [orders:read] }', `["\${env:S}"]`).replace(
      '{ targets: [http://127.0.0.1:4001] }',
      'http://user:hunter3@h',
    );
    await using files = await workspace({ 'policies/orders.yaml': text });
    const { problems } = await files.load({ S: 'hunter2' });
    const hints = problems.map(({ hint }) => hint);
    expect(hints).toContainEqual('write v1: { targets: [http://************@h] }');
    expect(JSON.stringify(hints)).not.toMatch(/hunter/);
  });
});
