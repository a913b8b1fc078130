// A policy that the tests of `sundial explain` vary.

export const ORDERS = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" }, { header: API-Version }, { default: v2 } ]
access: { identity: main, scopes: { read: [orders:read], write: any } }
limits: { rate: 600/1m, deprecated: 50% }
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
versions:
  v1: { released: 2024-06-01, deprecated: 2026-01-15, sunset: 2027-01-15, successor: v2, guide: https://docs.example.com/v2, status: https://status.example.com/v1 }
  v2: { released: 2026-01-15 }
`;

export const policies = { 'policies/orders.yaml': ORDERS };
