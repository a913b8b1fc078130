// Rows for single-mistakes.test.ts: mistakes in limits (RL-11).
import type { Mistake } from './mistake.ts';

export const LIMITS: readonly Mistake[] = [
  [
    'a share without a rate',
    'base:',
    'limits: { deprecated: 50% }\nbase:',
    '2 «limits» error: a limit needs a rate (write a rate beside it, such as rate: 600/1m)',
  ],
  [
    'RL-11: a deprecated limit above the rate',
    'base:',
    'limits: { rate: 600/1m, deprecated: 15/1s }\nbase:',
    '2 «15/1s» warning: this limit is higher than the rate that it should lower for v1',
  ],
  [
    'RL-11: a deprecated limit above the rate of one version',
    'successor: v2 }',
    'successor: v2, limits: { rate: 10/1m, deprecated: 60/1m } }',
    '9 «60/1m» warning: this limit is higher than the rate that it should lower for v1',
  ],
  [
    'a limit by consumer in a public API',
    /access:.*\n/,
    'access: public\nlimits: { rate: 1/1s, by: consumer }\n',
    '5 «consumer» error: a public API identifies no consumer (write by: address)',
  ],
  [
    'one of several limits by consumer in a public API',
    /access:.*\n/,
    'access: public\nlimits: [ { rate: 1/1s, by: address }, { name: mine, rate: 1/1m, by: consumer } ]\n',
    '5 «consumer» error: a public API identifies no consumer (write by: address)',
  ],
  [
    'two limits of one name',
    'base:',
    'limits: [ { rate: 600/1m }, { name: default, rate: 9/1s } ]\nbase:',
    '2 «default» error: two limits of this list have the name default (give each limit its own name)',
  ],
  [
    'a reserved name of a limit',
    'base:',
    'limits: [ { name: search-deprecated, rate: 9/1s } ]\nbase:',
    '2 «search-deprecated» error: not a name: a lower-case letter, then letters, digits and hyphens, and not guard or deprecated: "search-deprecated"',
  ],
  [
    'one of several limits without a rate',
    'base:',
    'limits: [ { rate: 600/1m }, { name: all, by: everyone } ]\nbase:',
    '2 «{ name: all, by: everyone }» error: a limit needs a rate (write a rate beside it, such as rate: 600/1m)',
  ],
  [
    'a version that adds a limit without a rate',
    'successor: v2 }',
    'successor: v2, limits: [ { name: extra, by: address } ] }',
    '9 «{ name: extra, by: address }» error: a limit needs a rate (write a rate beside it, such as rate: 600/1m)',
  ],
  [
    'a limit of everyone below the limit of one consumer',
    'base:',
    'limits: [ { rate: 600/1m }, { name: all, rate: 500/1m, by: everyone } ]\nbase:',
    '2 «{ name: all, rate: 500/1m, by: everyone }» warning: limit default is never reached: all callers together get less than one consumer gets from it',
  ],
  [
    'a burst that takes too long to refill',
    'base:',
    'limits: { rate: 1/1d, burst: 100000 }\nbase:',
    '2 «100000» error: at this rate the burst takes 274 years to refill: stores count at most 200 (write a smaller burst, or a higher rate)',
  ],
  [
    'a burst of an operation that takes too long to refill',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: { rate: 600/1m, burst: 1000000000 }\n$2successor: v2, limits: { rate: 600/1m, burst: 70000 }, operations: { GET /a: { limits: { burst: 1000000000 } }, GET /b: { limits: { rate: 1/1d, burst: 80000 } } } }',
    '10 «80000» error: at this rate the burst takes 219 years to refill: stores count at most 200 (write a smaller burst, or a higher rate)',
  ],
  [
    'a sliding log with too many requests',
    'base:',
    'limits: { rate: 20000/1h, algorithm: sliding-log }\nbase:',
    '2 «20000/1h» error: a sliding log stores the time of every request: at most 10000 in a window (write a shorter window, or algorithm: gcra)',
  ],
  [
    'a sliding log that inherits a rate with too many requests',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: { rate: 20000/1h }\n$2successor: v2, limits: { algorithm: sliding-log } }',
    '10 «sliding-log» error: a sliding log stores the time of every request: at most 10000 in a window (write a shorter window, or algorithm: gcra)',
  ],
  [
    'a rate with too many requests for the inherited sliding log',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: { rate: 20/1h, algorithm: sliding-log }\n$2successor: v2, operations: { GET /a: { limits: { rate: 20000/1h } } } }',
    '10 «20000/1h» error: a sliding log stores the time of every request: at most 10000 in a window (write a shorter window, or algorithm: gcra)',
  ],
  [
    'a sliding log whose deprecated limit has too many requests',
    'successor: v2 }',
    'successor: v2, limits: { rate: 9000/1m, deprecated: 20000/1h, algorithm: sliding-log } }',
    '9 «20000/1h» error: a sliding log stores the time of every request: at most 10000 in a window (write a shorter window, or algorithm: gcra)',
  ],
  [
    'a burst of an inherited sliding log',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: { rate: 20/1h, algorithm: sliding-log }\n$2successor: v2, limits: { burst: 5 } }',
    '10 «5» error: a sliding log has no burst: it admits at most the rate in any window',
  ],
  [
    'a sliding log with a burst',
    'base:',
    'limits: { rate: 20/1h, burst: 5, algorithm: sliding-log }\nbase:',
    '2 «5» error: a sliding log has no burst: it admits at most the rate in any window',
  ],
  [
    'a sliding log with exact: false',
    'base:',
    'limits: { rate: 20/1h, exact: false, algorithm: sliding-log }\nbase:',
    '2 «false» error: a sliding log is always exact: its units cannot be leased in advance',
  ],
];
