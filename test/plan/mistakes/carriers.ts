// Rows for single-mistakes.test.ts: mistakes in version carriers.
import type { Mistake } from './mistake.ts';

export const CARRIERS: readonly Mistake[] = [
  [
    'an unknown default',
    'default: v2',
    'default: v3',
    '3 «v3» error: no version is called "v3" (there are v1, v2)',
  ],
  [
    'a base with dot segments',
    'base: /api/orders',
    'base: /api/../orders',
    '2 «/api/../orders» error: not a plain path such as /orders: no trailing slash, query, escapes, dot segments or segment above 150 characters: "/api/../orders"',
  ],
  [
    'a base with a segment above 150 characters',
    'base: /api/orders',
    `base: /api/${'o'.repeat(151)}`,
    `2 «/api/${'o'.repeat(151)}» error: not a plain path such as /orders: no trailing slash, query, escapes, dot segments or segment above 150 characters: "/api/${'o'.repeat(54)}…"`,
  ],
  [
    'a path without {version}',
    '/api/{version}/orders',
    '/api/v/orders',
    '3 «"/api/v/orders"» error: not a path with one whole segment {version}, such as /api/{version}/orders: "/api/v/orders"',
  ],
  [
    'a carrier in a header with another meaning',
    'API-Version',
    'Authorization',
    '3 «Authorization» error: not a field name that can carry a version, such as API-Version: "Authorization"',
  ],
  [
    'two headers',
    '{ header: API-Version }',
    '{ header: API-Version }, { header: X-V }',
    '3 «{ header: X-V }» error: a second header',
  ],
  [
    'no carrier',
    /resolve:.*\n/,
    '',
    '1 «api: orders» error: the key "resolve" is missing: it lists where clients write the version (write resolve: [{ path: "/api/{version}/orders" }], or versions: none)',
  ],
  [
    'a base where the path names a version',
    'base: /api/orders',
    'base: /api/v1/orders',
    '2 «/api/v1/orders» error: this base is the path of v1: requests for it would have no version (write the base without the version)',
  ],
  [
    'a host that names a version',
    /base: (.*)\nresolve: \[/,
    'base: $1\nhost: [api.example.com, v2.example.com]\nresolve: [ { subdomain: "{version}.example.com" },',
    '3 «v2.example.com» error: the subdomain of this host is a version, but requests for this host would have no version (remove it from host: the subdomain carrier serves it anyway)',
  ],
  [
    'a media type twice',
    '{ header: API-Version }',
    '{ media_type: "application/json; v={n}" }, { media_type: "application/json;v={version}" }',
    '3 «{ media_type: "application/json;v={version}" }» error: this media type is listed twice',
  ],
  [
    'a default alone',
    /resolve:.*/,
    'resolve: [ { default: v2 } ]',
    '3 «resolve» warning: no request can name a version, so every request gets the default (add a carrier, such as { header: API-Version })',
  ],
  [
    'a default that is planned',
    'v2: { released: 2026-01-15',
    'v2: { released: 2026-12-01',
    '3 «v2» warning: v2 is released on 2026-12-01: until then a request that names no version gets 400 (write default: v1 until then)',
  ],
  [
    'a default that ends before its successor',
    'default: v2',
    'default: v1',
    '3 «v1» warning: v1 ends on 2027-01-15: from then on a request that names no version gets 410 (write default: v2 by that day)',
  ],
];
