// A policy with a description, for the files openapi-*.test.ts.
import type { Workspace } from './workspace.ts';

export const POLICY = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" }, { header: API-Version }, { default: v2 } ]
access: { identity: main, scopes: { read: [orders:read] } }
upstreams:
  v1: { targets: [http://127.0.0.1:4001], path: /orders }
  v2: { targets: [http://127.0.0.1:4002], path: /orders }
versions:
  v1: { released: 2024-06-01, successor: v2, openapi: ../api/v1.yaml }
  v2: { released: 2026-01-15 }
`;

export const describes = (paths: string, servers = '') => `openapi: 3.0.3
info:
  title: Orders
  version: 1.0.0
  x-lifecycle:
    deprecation: { announced: "2026-01-15", sunset: "2027-01-15" }
    migration-guide: https://docs.example.com/orders/v2
${servers}paths:
${paths}`;

export const SEARCH = `  /orders/search:
    get:
      deprecated: true
      x-lifecycle: { status: deprecated, deprecation-date: "2025-06-01", sunset-date: "2026-12-15", replacement: /orders }
  /orders: { get: {} }
`;

export async function planOf(files: Workspace) {
  const { plan, problems, sources } = await files.load();
  const version = plan?.apis[0]?.versions.get('v1');
  const operations = version?.operations?.list.map(({ operation, schedule }) => ({ operation, ...schedule }));
  return { version, operations, problems, document: sources?.policies[0]?.document };
}
