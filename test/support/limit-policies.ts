// Policies with limits of every kind, a request for each, and the lines that `explain` must name.

const OLD = 'released: 2024-06-01, deprecated: 2026-01-15, sunset: 2027-01-15';
const NEW = 'released: 2026-01-15';

/** A policy, a request, and the marks of the lines behind the rows of `explain` for limits and cost. */
export type LimitPolicy = readonly [name: string, policy: string, ask: string, marks: string];

export const LIMIT_POLICIES: readonly LimitPolicy[] = [
  ['one', `limits: { rate: 600/1m } # a\nversions: { v1: { ${NEW} } }`, 'GET /', 'a'],
  ['burst', `limits: { rate: 600/1m, burst: 7 } # a\nversions: { v1: { ${NEW} } }`, 'GET /', 'a'],
  ['odd', `limits: { rate: 7/1m, exact: true } # a\nversions: { v1: { ${NEW} } }`, 'GET /', 'a'],
  [
    'rare',
    `limits: { rate: 1/1d, on_store_failure: refuse } # a\nversions: { v1: { ${NEW} } }`,
    'GET /',
    'a',
  ],
  ['log', `limits: { rate: 20/1h, algorithm: sliding-log } # a\nversions: { v1: { ${NEW} } }`, 'GET /', 'a'],
  ['shadow', `limits: { rate: 20/1h, shadow: true } # a\nversions: { v1: { ${NEW} } }`, 'GET /', 'a'],
  ['off', `limits: { rate: 20/1h }\nversions: { v1: { ${NEW}, limits: off } }`, 'GET /', ''],
  ['half', `limits: { rate: 600/1m, deprecated: 50% } # a\nversions: { v1: { ${OLD} } }`, 'GET /', 'a'],
  [
    'absolute',
    `limits: { rate: 600/1m, deprecated: 50% }\nversions:\n  v1: { ${OLD}, limits: { deprecated: 30/10s } } # b`,
    'GET /',
    'b',
  ],
  [
    'inherited-lowering',
    `limits:\n  deprecated: 120/1m # a\n  rate: 600/1m\nversions:\n  v1: { ${OLD}, limits: { rate: 300/1m } } # b`,
    'GET /',
    'a',
  ],
  [
    'lowering-that-would-raise',
    `limits:\n  deprecated: 120/1m # a\n  rate: 600/1m\nversions:\n  v1: { ${OLD}, limits: { rate: 60/1m } } # b`,
    'GET /',
    'b',
  ],
  [
    'curve',
    `limits: { rate: 600/1m, deprecated: { from: 80%, to: 10% } } # a\nversions: { v1: { ${OLD} } }`,
    'GET /',
    'a',
  ],
  [
    'several',
    `limits:
  - { rate: 600/1m, burst: 100, deprecated: 50% } # a
  - { name: address, rate: 50/1s, by: address, shadow: true } # b
  - { name: all, rate: 10000/1m, by: everyone, on_store_failure: allow } # c
versions:
  v1: { ${NEW}, limits: { rate: 300/1m } } # d`,
    'GET /',
    'd b c',
  ],
  [
    'several-lowered',
    `limits:
  - { name: all, rate: 10000/1m, by: everyone, deprecated: 10% } # a
  - { rate: 600/1m, deprecated: 50% } # b
  - { name: trial, rate: 5/1m, burst: 2, deprecated: 1/1m } # c
versions:
  v1: { ${OLD}, limits: [ { name: trial, rate: 4/1m } ] } # d`,
    'GET /',
    'b c a',
  ],
  [
    'near-first',
    `limits:
  - { rate: 600/1m } # a
  - { name: all, rate: 3/1m, by: everyone } # b
versions: { v1: { ${NEW} } }`,
    'GET /',
    'a b',
  ],
  [
    'cost',
    `limits: [ { rate: 60/1m }, { name: log, rate: 60/1m, algorithm: sliding-log } ] # a
versions:
  v1:
    released: 2026-01-15
    operations:
      POST /bulk: { cost: 7 } # b`,
    'POST /bulk',
    'a a b',
  ],
  [
    'cost-lowered',
    `limits: { rate: 60/1m, deprecated: 25% } # a
versions:
  v1:
    released: 2026-01-15
    operations:
      POST /bulk: { cost: 7, deprecated: 2026-06-01, sunset: 2027-06-01 } # b`,
    'POST /bulk',
    'a b',
  ],
  [
    'operation',
    `limits: { rate: 600/1m, deprecated: 50% } # a
versions:
  v1:
    released: 2026-01-15
    limits: [ { name: login, rate: 9/1m, by: address } ] # b
    operations:
      GET /search: # c
        limits: [ { rate: 30/1m }, { name: extra, rate: 40/1m, burst: 1 } ] # d`,
    'GET /search',
    'd b d',
  ],
  [
    'operation-off',
    `limits: { rate: 600/1m }
versions:
  v1: { ${NEW}, limits: [ { name: login, rate: 9/1m } ], operations: { GET /search: { limits: off } } }`,
    'GET /search',
    '',
  ],
  [
    'operation-alone',
    `limits: { rate: 600/1m, deprecated: 10% } # a
versions:
  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15
    limits: off
    operations:
      GET /search: { limits: { rate: 30/1m } } # b`,
    'GET /search',
    'b',
  ],
];

/** The whole file: a public API of that name with one upstream behind v1. */
export function limitPolicyText([name, policy]: LimitPolicy, target: string): string {
  return `api: ${name}
base: /api/${name}
resolve: [ { path: "/api/{version}/${name}" } ]
access: public
upstreams: { v1: { targets: [ "${target}" ], path: /echo } }
${policy}
`;
}
