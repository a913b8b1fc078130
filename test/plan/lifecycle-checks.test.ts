// Tests the findings about operations, exceptions, lowered limits and further dates. Each row has one mistake.
import { describe, expect, it } from 'vitest';
import { ordersPolicy } from '../support/orders-policy.ts';
import { workspace } from './workspace.ts';

const GOOD = ordersPolicy(
  `  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15
    retired: 2027-07-15
    forgotten: 2028-01-15
    successor: v2
    guide: https://docs.example.com/v1
    exceptions:
      - { consumer: acme, until: 2027-06-30, from: [brownouts, sunset], why: contract 4711, by: api-team }
      - { consumer: bulk, until: 2026-12-01, from: [limits], why: year end, by: api-team }
    operations:
      GET /of/{customer}/{id}: { deprecated: 2025-10-01, sunset: 2026-12-15, after: redirect, successor: "v2 GET /x/{id}" }
  v2:
    released: 2025-06-01
    operations:
      GET /search: { deprecated: 2026-06-01, sunset: 2027-06-15, successor: GET /, limits: { deprecated: 30/1m } }
      GET /{id}: { access: public }
`,
  {
    access: '{ identity: main, scopes: { read: [orders:read] } }',
    more: 'limits: { rate: 600/1m, deprecated: 50% }\n',
  },
);

type Row = readonly [name: string, from: string | RegExp, to: string, expected: RegExp];

const rows: readonly Row[] = [
  [
    'an alternate beside a successor',
    '    successor: v2\n',
    '    successor: v2\n    alternate: https://other.example.com/orders\n',
    /«alternate» error: alternate has no effect: v1 has the successor v2/,
  ],
  [
    'a short label that a full label of the same major hides',
    '  v2:\n    released: 2025-06-01',
    '  v2.1.0: { released: 2026-02-01 }\n  v2:\n    released: 2025-06-01',
    /«v2» warning: after the release of v2\.1\.0, requests for v2 get v2\.1\.0 \(call it v2\.0\.0, .*\)/,
  ],
  [
    'an unknown method',
    'GET /search:',
    'get /search:',
    /«get \/search» error: .*get is not a method \(write one of GET, HEAD, .*\)/,
  ],
  [
    'an operation without a method and a path',
    'GET /search:',
    'search:',
    /«search» error: an operation needs a method and a path, such as GET \/search\/\{id\} \(write \* \/search\)/,
  ],
  [
    'a path with the base and the version',
    'GET /search:',
    'GET /api/v2/orders/search:',
    /«GET \/api\/v2\/orders\/search» warning: operation paths are relative to the base, .* \(write GET \/search\)/,
  ],
  [
    'a parameter in the syntax of other routers',
    'GET /{id}: {',
    'DELETE /:order-id/{id}: {',
    /«DELETE \/:order-id\/\{id\}» warning: a segment that begins with ":" .* \(write DELETE \/\{order_id\}\/\{id\}\)/,
  ],
  [
    'a parameter of a successor in the syntax of other routers',
    'successor: GET /,',
    'successor: v2 GET /:id,',
    /«v2 GET \/:id» warning: a segment that begins with ":" .* \(write v2 GET \/\{id\}\)/,
  ],
  [
    'a path that repeats the base',
    'GET /search:',
    'GET /api/orders:',
    /«GET \/api\/orders» warning: .* \(write GET \/\)/,
  ],
  [
    'a segment that is partly a parameter',
    'GET /{id}:',
    'GET /x{id}:',
    /error: the segment "x\{id\}" is neither plain text of at most 150 characters nor one \{parameter\}/,
  ],
  [
    'a segment above 150 characters',
    'GET /{id}:',
    `GET /${'x'.repeat(151)}:`,
    /error: the segment "x{151}" is neither plain text of at most 150 characters nor one \{parameter\}/,
  ],
  [
    'two operations that match the same requests',
    'GET /{id}: {',
    'GET /{a}: {}\n      GET /{id}: {',
    /«GET \/\{id\}» error: GET \/\{a\} matches the same requests/,
  ],
  [
    'templates that overlap',
    'GET /{id}: {',
    'GET /{a}/b: {}\n      GET /a/{b}: {',
    /«GET \/a\/\{b\}» warning: some requests also match GET \/\{a\}\/b/,
  ],
  [
    'an operation whose sunset is before its deprecation',
    'sunset: 2027-06-15',
    'sunset: 2026-05-01',
    /«2026-05-01» error: sunset \(2026-05-01\) is before deprecated \(2026-06-01\)/,
  ],
  [
    'an operation that outlives its version',
    'sunset: 2026-12-15',
    'sunset: 2027-12-15',
    /«2027-12-15» error: sunset \(2027-12-15\) is after that of v1 \(2027-01-15\)/,
  ],
  [
    'an operation deprecated after its version',
    'deprecated: 2025-10-01',
    'deprecated: 2026-02-01',
    /«2026-02-01» error: deprecated \(2026-02-01\) is after that of v1/,
  ],
  [
    'an operation deprecated before its version exists',
    'deprecated: 2025-10-01',
    'deprecated: 2024-01-01',
    /«2024-01-01» error: deprecated \(2024-01-01\) is before v1 is released/,
  ],
  [
    'an operation with a sunset and no deprecation',
    'deprecated: 2026-06-01, sunset: 2027-06-15',
    'sunset: 2027-06-15',
    /«sunset» warning: a sunset without deprecated/,
  ],
  [
    'a successor template with a parameter that is not captured',
    'v2 GET /x/{id}',
    'v2 GET /x/{number}',
    /error: GET \/of\/\{customer\}\/\{id\} does not capture \{number\}/,
  ],
  [
    'a successor in an unknown version',
    'v2 GET /x/{id}',
    'v9 GET /x/{id}',
    /error: no version is called "v9"/,
  ],
  [
    'a successor that is neither a version nor an operation',
    'successor: GET /,',
    'successor: /,',
    /«\/» error: successor must be a version \(v3\), an operation \(GET \/items\/\{id\}\) or both/,
  ],
  [
    'an operation that is its own successor',
    'successor: GET /,',
    'successor: GET /search,',
    /error: an operation cannot be its own successor/,
  ],
  [
    'an operation whose successor is its own version',
    'successor: GET /,',
    'successor: v2,',
    /error: an operation cannot be its own successor/,
  ],
  [
    'a redirect without a target',
    ', successor: "v2 GET /x/{id}"',
    '',
    /«redirect» error: a redirect needs a successor/,
  ],
  [
    'a redirect to another method',
    'v2 GET /x/{id}',
    'v2 POST /x/{id}',
    /error: a redirect keeps the method, and POST \/x\/\{id\} has another method/,
  ],
  [
    'a redirect to a version that ends earlier',
    'released: 2025-06-01\n',
    'released: 2025-06-01\n    deprecated: 2026-01-01\n    sunset: 2026-12-01\n',
    /error: GET \/of\/\{customer\}\/\{id\} ends on 2026-12-15, and v2 has ended by then/,
  ],
  [
    'exceptions in an API with access: public',
    /access: \{ identity.*\n/,
    'access: public\n',
    /error: a public API identifies no consumers, so exceptions have no effect/,
  ],
  [
    'an exception that ends with the sunset',
    'until: 2027-06-30',
    'until: 2027-01-15',
    /«2027-01-15» error: until \(2027-01-15\) is not after the sunset \(2027-01-15\), so the exception from sunset has no effect/,
  ],
  [
    'an exception until after the retirement of a version',
    'until: 2027-06-30',
    'until: 2027-08-01',
    /error: until \(2027-08-01\) is after v1 retires \(2027-07-15\)/,
  ],
  [
    'an exception until after the sunset of a version without retired',
    '    retired: 2027-07-15\n',
    '',
    /error: until \(2027-06-30\) is after v1 retires \(2027-01-15, its sunset\) \(give the version a later retired\)/,
  ],
  ['an exception with an unknown value of from', '[limits]', '[deprecation]', /«deprecation» error: /],
  [
    'two exceptions from the sunset for one consumer',
    'consumer: bulk, until: 2026-12-01, from: [limits]',
    'consumer: acme, until: 2027-02-01, from: [sunset]',
    /error: "acme" already has an exception from sunset/,
  ],
  [
    'a version that is forgotten before it is retired',
    'forgotten: 2028-01-15',
    'forgotten: 2027-02-01',
    /«2027-02-01» error: forgotten \(2027-02-01\) is before retired \(2027-07-15\)/,
  ],
  [
    'a limit that rises until the sunset',
    'rate: 600/1m, deprecated: 50%',
    'rate: 600/1m, deprecated: { from: 5%, to: 50% }',
    /«50%» error: "to" must not be higher than "from"/,
  ],
  [
    'a limit with from and to, without a sunset',
    'sunset: 2027-06-15, successor: GET /, limits: { deprecated: 30/1m }',
    'limits: { deprecated: { from: 50%, to: 5% } }',
    /«deprecated» error: a limit with from and to needs a sunset/,
  ],
  [
    'a rate in place of a share in from',
    'rate: 600/1m, deprecated: 50%',
    'rate: 600/1m, deprecated: { from: 50/1m, to: 5% }',
    /«50\/1m» error: not a share such as 50%/,
  ],
  [
    'a limit of an operation without a rate',
    'limits: { rate: 600/1m, deprecated: 50% }\n',
    '',
    /«limits» error: a limit needs a rate/,
  ],
  ['an unknown mode', 'base:', 'mode: watch\nbase:', /«watch» error: /],
];

describe('a policy file gets a finding for', () => {
  it.each(rows)('%s', async (_name, from, to, expected) => {
    const text = GOOD.replace(from, () => to);
    expect(text).not.toBe(GOOD);
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems()).toContainEqual(expect.stringMatching(expected));
  });
});

describe('scopes of an operation', () => {
  it('are an error in a public API', async () => {
    const text = GOOD.replace(/access: \{ identity.*\n/, 'access: public\n').replace(
      '{ access: public }',
      '{ access: { scopes: [orders:read] } }',
    );
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems()).toContainEqual(
      expect.stringMatching(/«access» error: a public API verifies no tokens, so scopes have no effect/),
    );
  });
});

describe('a policy file with all valid keys', () => {
  it('has no error and makes a plan', async () => {
    await using files = await workspace({ 'policies/orders.yaml': GOOD });
    const { problems, plan } = await files.load();
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(plan?.apis[0]?.versions.get('v2')?.operations?.list).toHaveLength(2);
  });
});
