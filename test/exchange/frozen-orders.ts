// A policy with a version that admits no new consumers.
import { ordersPolicy } from '../support/orders-policy.ts';

export const POLICY = ordersPolicy(
  `  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    freeze: 2026-06-01
    sunset: 2027-01-15
    successor: v2
    guide: https://docs.example.com/v2
    exceptions: [ { consumer: partner, until: 2026-12-01, from: [freeze], why: contract, by: team } ]
    operations:
      GET /open: { access: public }
      GET /old: { sunset: 2026-09-01 }
  v2: { released: 2025-01-01 }
`,
  { access: '{ identity: main, scopes: { read: [orders:read] } }', more: 'limits: { rate: 600/1m }\n' },
);
