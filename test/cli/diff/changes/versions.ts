// Changes of a version with their lines in `sundial diff`: dates, windows, limits and operations.
import { WIDE } from '../diffed-orders.ts';
import type { Change } from './change.ts';

export const OF_VERSIONS: readonly Change[] = [
  [
    'an extension',
    '    successor: v2\n',
    '    extended: [ { to: 2027-04-15, announced: 2026-10-10 } ]\n    successor: v2\n',
    'orders v1: sunset 2027-01-15 -> 2027-04-15, +3 months',
    'orders v1: extension to 2027-04-15, announced 2026-10-10 added',
  ],
  [
    'documentation links of a version',
    'guide: https://docs.example.com/v2',
    'guide: https://docs.example.com/v2\n    service_doc: https://docs.example.com/orders\n    service_desc: https://docs.example.com/openapi',
    'orders v1: service_doc https://docs.example.com/orders added',
    'orders v1: service_desc https://docs.example.com/openapi added',
  ],
  [
    'an earlier date',
    'deprecated: 2026-01-15',
    'deprecated: 2025-12-10',
    'orders v1: deprecated 2026-01-15 -> 2025-12-10, -1 month 5 days',
  ],
  [
    'a date moved by two hours',
    'sunset: 2027-01-15',
    'sunset: 2027-01-15T02:00:00Z',
    'orders v1: sunset 2027-01-15 -> 2027-01-15T02:00:00Z, +2 hours',
  ],
  [
    'added dates',
    'sunset: 2027-01-15',
    'sunset: 2027-01-15\n    retired: 2027-07-15\n    forgotten: 2028-01-15',
    'orders v1: retired 2027-07-15 added',
    'orders v1: forgotten 2028-01-15 added',
  ],
  ['a successor', '    successor: v2\n', '', 'orders v1: successor v2 removed'],
  [
    'a guide',
    'com/v2',
    'com/v1-to-v2',
    'orders v1: guide https://docs.example.com/v2 -> https://docs.example.com/v1-to-v2',
  ],
  [
    'a reason',
    '    successor: v2\n',
    '    successor: v2\n    reason: amounts become integers\n',
    'orders v1: reason "amounts become integers" added',
  ],
  [
    'the response after the sunset',
    '    successor: v2\n',
    '    after: { redirect: v2, unsafe: 410 }\n',
    'orders v1: after 410 -> redirect to v2, 410 for writes',
  ],
  ['a lower limit', '120/1m', '1/1s', 'orders v1: limit while deprecated 120/1m -> 1/1s, lowered'],
  [
    'a higher limit',
    'rate: 600/1m',
    'rate: 1200/1m, burst: 60',
    'orders: limit 600/1m -> 1200/1m, raised',
    'orders: limit burst 60 added',
  ],
  ['a share', '120/1m', '50%', 'orders v1: limit while deprecated 120/1m -> 50%'],
  [
    'a moved window',
    '2026-12-08T14',
    '2026-12-15T14',
    'orders v1: brownout window 2026-12-08T14:00Z for 15 minutes -> 2026-12-15T14:00Z for 15 minutes, +7 days',
  ],
  [
    'a window replaced by a cron rule',
    '{ from: 2026-12-08T14:00:00Z, for: 15m,',
    '{ cron: "0 14 * * 2", zone: UTC, for: 15m, from: 2026-12-08,',
    'orders v1: 5 brownout windows 2026-12-15T14:00Z to 2027-01-12T14:00Z each 15 minutes added',
  ],
  [
    'another response in a window',
    'for: 15m,',
    'for: 15m, status: 503, percentage: 25%,',
    'orders v1: brownout window 2026-12-08T14:00Z for 15 minutes (410, announced 2026-11-01) -> (503 for 25%, announced 2026-11-01)',
  ],
  [
    'a window relative to the sunset',
    '{ from: 2026-12-08T14:00:00Z, for: 15m,',
    '{ before_sunset: 7d, for: 30m,',
    'orders v1: brownout window 2026-12-08T14:00Z for 15 minutes removed',
    'orders v1: brownout window 2027-01-08 for 30 minutes added',
  ],
  [
    'an exception',
    'until: 2026-12-30',
    'until: 2026-12-31',
    'orders v1: exception of "acme" from limits until 2026-12-30 -> of "acme" from limits until 2026-12-31',
  ],
  [
    'an operation',
    'sunset: 2027-06-15',
    'sunset: 2027-07-15',
    'orders v2 GET /search: sunset 2027-06-15 -> 2027-07-15, +1 month',
  ],
  [
    'the successor of an operation',
    'successor: GET /,',
    'successor: v1 GET /find,',
    'orders v2 GET /search: successor GET / -> v1 GET /find',
  ],
  [
    'a removed operation',
    / {4}operations:\n.*\n/.exec(WIDE)?.[0] ?? '',
    '',
    'orders v2 GET /search: operation (deprecated 2026-06-01, sunset 2027-06-15) removed',
  ],
  [
    'an added version',
    'versions:\n',
    'versions:\n  v3: { released: 2027-03-01 }\n',
    'orders v3: version (released 2027-03-01) added',
  ],
  [
    'a removed version with its operation',
    WIDE.slice(WIDE.indexOf('  v2:\n    released')),
    '',
    'orders v2: version (released 2026-01-15) removed',
    'orders v2 GET /search: operation (deprecated 2026-06-01, sunset 2027-06-15) removed',
  ],
];
