// Policies beside those of the demo, as text, so that no other journey finds them.

/** The orders under a second name, with every carrier, a notice in the body, and rules that are errors. */
export const SALES = `api: sales
base: /api/sales
resolve:
  - path: /api/{version}/sales
  - subdomain: "{version}.sales.example.com"
  - header: API-Version
  - query: version
  - media_type: application/vnd.sundial.{version}+json
  - media_type: application/vnd.sundial+json; version={n}
  - default: v2
rewrite_content_type: true
access: public
limits: { rate: 600/1m, by: address }
rules: { notice-period: error, extension-length: error, extension-announcement: error, migration-guide: error }
upstreams:
  v1: { targets: ["http://127.0.0.1:\${env:SUNDIAL_ORDERS_V1_PORT}"], path: /orders }
  v2: { targets: ["http://127.0.0.1:\${env:SUNDIAL_ORDERS_V2_PORT}"], path: /orders }
versions:
  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15
    successor: v2
    guide: https://docs.example.com/sales/v1-to-v2
    status: https://status.example.com/sales-v1
    reason: money amounts become integers
    body_notice: true
    limits: { deprecated: 60/1m }
  v2: { released: 2026-01-15 }
`;

/** The echo service with a short timeout. */
export const SLOW = `api: slow
base: /api/slow
access: public
upstreams:
  slow:
    targets: ["http://127.0.0.1:\${env:SUNDIAL_ECHO_PORT}"]
    path: /echo
    timeout: { headers: 200ms }
versions: none
`;

/** The catalog during maintenance. */
export const CLOSED = `api: closed
base: /api/closed
access: public
maintenance: "\${env:UNTIL}"
upstreams:
  catalog: { targets: ["http://127.0.0.1:\${env:SUNDIAL_CATALOG_PORT}"], path: /catalog }
versions: none
`;
