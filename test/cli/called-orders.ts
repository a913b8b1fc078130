// A policy with a version that is called until its sunset, and the ledger's response about those calls.
import type { UsageAnswer, UsageRowBody, UsedVersion } from '../../gateway/api/usage-answers.ts';
import { ordersPolicy } from '../support/orders-policy.ts';

export const POLICY = ordersPolicy(`  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15
    successor: v2
    guide: https://docs.example.com/v2
    #more
  v2: { released: 2025-01-01 }
`);
const trend = { week: 0, weekBefore: 0 };

export const row = (consumer: string, firstCall: string): UsageRowBody => ({
  api: 'orders',
  version: 'v1',
  consumer,
  via: 'token',
  calls: 10,
  trend,
  firstCall: `${firstCall}T00:00:00Z`,
  lastCall: '2026-11-19T00:00:00Z',
  operations: [],
});
export const CALLERS = [row('acme', '2026-02-01'), row('globex', '2026-07-01'), row('initech', '2026-08-01')];

const used = (changes: Partial<UsedVersion> = {}): UsedVersion => ({
  api: 'orders',
  version: 'v1',
  stage: 'deprecated',
  deprecated: '2026-01-15T00:00:00Z',
  sunset: '2027-01-15T00:00:00Z',
  successor: 'v2',
  consumers: 14,
  calls: 93_000,
  trend,
  lastCall: '2026-11-19T00:00:00Z',
  verdict: 'called',
  summary: '',
  operations: [],
  exceptions: [],
  ...changes,
});

export const answer = (changes: Partial<UsedVersion> = {}): UsageAnswer => ({
  now: '2026-11-20T00:00:00Z',
  since: '2026-10-21',
  began: '2026-01-01T00:00:00Z',
  recording: true,
  versions: [used(changes)],
  consumers: CALLERS,
  next: null,
});

export const RETIRES = 'orders v1: retires on 2027-01-15 for 14 consumers, 3,100 calls a day';

export const DECIDES = {
  countedSince: '2026-01-01T00:00:00Z',
  freeze: null,
  retirement: null,
  heldUntil: null,
  summaries: [],
};
