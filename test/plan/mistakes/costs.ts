// Rows for single-mistakes.test.ts: costs of operations above a limit.
import type { Mistake } from './mistake.ts';

export const COSTS: readonly Mistake[] = [
  [
    'a cost above the burst',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: { rate: 600/1m, burst: 20 }\n$2successor: v2, operations: { POST /bulk: { cost: 30 } } }',
    '10 «30» error: limit default admits 20 at once: every request with this cost is refused (write a burst of at least 30, or a cost of at most 20)',
  ],
  [
    'a cost above the burst of a lowered limit',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: { rate: 50/1m, deprecated: 50% }\n$2successor: v2, operations: { POST /bulk: { cost: 30 } } }',
    '10 «30» error: once deprecated, limit deprecated admits 25 at once: every request with this cost is refused (write a lowered limit of at least 30, or a cost of at most 25)',
  ],
  [
    'a cost above the last burst of a curve',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: [ { rate: 50/1m, deprecated: { from: 80%, to: 10% } } ]\n$2successor: v2, operations: { POST /bulk: { cost: 30 } } }',
    '10 «30» error: by the sunset, limit deprecated admits 5 at once: every request with this cost is refused (write a lowered limit of at least 30, or a cost of at most 5)',
  ],
  [
    'a cost above one of several limits, which the version lowers',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: [ { rate: 600/1m }, { name: all, rate: 90/1m, by: everyone } ]\n$2successor: v2, limits: [ { name: all, deprecated: 20/1m } ], operations: { POST /bulk: { cost: 30 } } }',
    '10 «30» error: once deprecated, limit all-deprecated admits 20 at once: every request with this cost is refused (write a lowered limit of at least 30, or a cost of at most 20)',
  ],
  [
    'a cost above the lowered limit of an operation',
    'v2: { released: 2026-01-15 }',
    'v2: { released: 2026-01-15, limits: { rate: 50/1m, deprecated: 50% }, operations: { POST /bulk: { deprecated: 2026-06-01, sunset: 2027-06-15, guide: https://docs.example.com/bulk, cost: 30 } } }',
    '10 «30» error: once deprecated, limit deprecated admits 25 at once: every request with this cost is refused (write a lowered limit of at least 30, or a cost of at most 25)',
  ],
  [
    'a cost above the units of a sliding log',
    'successor: v2 }',
    'successor: v2, operations: { POST /bulk: { cost: 30, limits: { rate: 20/1h, algorithm: sliding-log } } } }',
    '9 «30» error: limit default admits 20 in any window: every request with this cost is refused (write a rate of at least 30, or a cost of at most 20)',
  ],
  [
    'a cost above a shadow limit',
    'successor: v2 }',
    'successor: v2, limits: { rate: 20/1m, shadow: true }, operations: { POST /bulk: { cost: 30 } } }',
    '9 «30» warning: limit default admits 20 at once: every request with this cost is refused (write a burst of at least 30, or a cost of at most 20)',
  ],
  [
    'a cost without a limit',
    'successor: v2 }',
    'successor: v2, operations: { POST /bulk: { cost: 30 } } }',
    '9 «cost» warning: cost has no effect without a limit',
  ],
];
