// A policy with nearly every key, for the edits of diff.test.ts.

export const WIDE = `api: orders
base: /api/orders
resolve:
  - path: /api/{version}/orders
  - header: API-Version
  - default: v2
access: { identity: main, scopes: { read: [orders:read] } }
cors: { origins: [https://app.example.com] }
limits: { rate: 600/1m }
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002], timeout: 3s }
versions:
  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15
    successor: v2
    guide: https://docs.example.com/v2
    limits: { deprecated: 120/1m }
    brownouts:
      - { from: 2026-12-08T14:00:00Z, for: 15m, announced: 2026-11-01 }
    exceptions:
      - { consumer: acme, until: 2026-12-30, from: [limits], why: contract, by: api-team }
  v2:
    released: 2026-01-15
    operations:
      GET /search: { deprecated: 2026-06-01, sunset: 2027-06-15, successor: GET /, guide: https://docs.example.com/search }
`;
