// A policy with a version that takes no newcomers.
// For the files about freezes and about retirement by usage.

export const POLICY = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" } ]
access: { identity: main, scopes: { read: [orders:read] } }
limits: { rate: 600/1m }
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
versions:
  v1:
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
`;
