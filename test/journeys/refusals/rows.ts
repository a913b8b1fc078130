// The refusals of the pipeline: requests to the policies of this folder, and their exact responses.
import { expect } from 'vitest';
import type { Ask } from '../../support/http-client.ts';

export interface Row {
  readonly title: string;
  readonly reason: string;
  readonly ask: Ask;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** v3 is planned, v1 and v0 have ended. */
const VERSIONS = ['v2'];
const RETIRED = {
  'cache-control': 'max-age=60',
  'proxy-status': 'sundial; error=proxy_internal_response',
  vary: 'Accept, API-Version',
};
const GUIDE = '<https://docs.example.com/orders/v1-to-v2>; rel="deprecation"; type="text/html"';
const STATUS = ['status', 'sunset']
  .map((rel) => `<https://127.0.0.1/.well-known/lifecycle/orders>; rel="${rel}"`)
  .join(', ');

/** On 2026-11-20, without a valid token. */
export const rows: readonly Row[] = [
  {
    title: 'CAT-1: a path without an API, with a link to the catalog',
    reason: 'route_unknown',
    ask: { path: '/' },
    status: 404,
    body: { error: 'Not Found', message: 'No API is published at this path.' },
    headers: { link: '<https://127.0.0.1/.well-known/api-catalog>; rel="api-catalog"' },
  },
  {
    title: 'TLS-4: an unknown host',
    reason: 'host_unknown',
    ask: { path: '/api/v2/orders', headers: { host: 'other.example.com' } },
    status: 421,
    body: {
      error: 'Misdirected Request',
      message: 'This gateway does not answer for the host of this request.',
    },
  },
  {
    title: 'a credential in the query, whose value is not in the response',
    reason: 'credentials_in_url',
    ask: { path: '/api/v2/orders?x=1&access%5Ftoken=canary-7f3a' },
    status: 400,
    body: {
      error: 'Bad Request',
      message: 'Credentials are not allowed in a URL. Send access_token in the Authorization header.',
    },
  },
  {
    title: 'VER-3: two carriers that disagree',
    reason: 'version_ambiguous',
    ask: { path: '/api/v2/orders', headers: { 'api-version': 'v1' } },
    status: 400,
    body: {
      error: 'Bad Request',
      message: 'The request names different versions: "v2" in the path, "v1" in the header. Send one.',
    },
    headers: { vary: 'Accept, API-Version' },
  },
  {
    title: 'STAT-1: a header that is not a version',
    reason: 'version_malformed',
    ask: { path: '/api/orders', headers: { 'api-version': 'banana' } },
    status: 400,
    body: {
      error: 'Bad Request',
      message: '"banana" in the header is not a version. Versions: v2.',
      supportedVersions: VERSIONS,
    },
    headers: { vary: 'Accept, API-Version' },
  },
  {
    title: 'STAT-1: a path segment that is not a version',
    reason: 'version_malformed',
    ask: { path: '/api/v01/orders' },
    status: 404,
    body: {
      error: 'Not Found',
      message: '"v01" in the path is not a version. Versions: v2.',
      supportedVersions: VERSIONS,
    },
  },
  {
    title: 'STAT-2: a version that never existed, in the path',
    reason: 'version_unknown',
    ask: { path: '/api/v9/orders' },
    status: 404,
    body: {
      error: 'Not Found',
      message: 'There is no such version: "v9" in the path. Versions: v2.',
      supportedVersions: VERSIONS,
    },
  },
  {
    title: 'STAT-1: a version that is only planned, in the header',
    reason: 'version_unknown',
    ask: { path: '/api/orders', headers: { 'api-version': '3' } },
    status: 400,
    body: {
      error: 'Bad Request',
      message: 'There is no such version: "3" in the header. Versions: v2.',
      supportedVersions: VERSIONS,
    },
  },
  {
    title: 'no version, without a default',
    reason: 'version_missing',
    ask: { path: '/api/orders' },
    status: 400,
    body: {
      error: 'Bad Request',
      message: 'The request names no version. Versions: v2.',
      supportedVersions: VERSIONS,
    },
    headers: { vary: 'Accept, API-Version' },
  },
  {
    title: 'ORD-1, ORD-3: a retired version, before any precondition and without a token',
    reason: 'version_retired',
    ask: { path: '/api/v1/orders/7?x=1', headers: { 'if-none-match': '*' } },
    status: 410,
    body: {
      error: 'Gone',
      message: 'API version v1 was retired on 2026-06-01.',
      replacement: 'https://127.0.0.1/api/v2/orders/7',
      migration_guide: 'https://docs.example.com/orders/v1-to-v2',
      reason: 'money amounts become integers',
    },
    headers: {
      ...RETIRED,
      deprecation: '@1748736000',
      sunset: 'Mon, 01 Jun 2026 00:00:00 GMT',
      link: `${GUIDE}, ${STATUS}, <https://127.0.0.1/api/v2/orders/7>; rel="successor-version"`,
    },
  },
  {
    title: 'RET-2: a moved version, with its query byte for byte',
    reason: 'version_moved',
    ask: { path: '/api/v0/orders/a%20b?x=1&x=2&y=%2f' },
    status: 301,
    body: {
      error: 'Moved Permanently',
      message: 'API version v0 was retired on 2026-02-01.',
      replacement: 'https://127.0.0.1/api/v2/orders/a%20b?x=1&x=2&y=%2f',
    },
    headers: {
      ...RETIRED,
      location: 'https://127.0.0.1/api/v2/orders/a%20b?x=1&x=2&y=%2f',
      sunset: 'Sun, 01 Feb 2026 00:00:00 GMT',
      deprecation: '@1717200000',
      link: `${STATUS}, <https://127.0.0.1/api/v2/orders/a%20b>; rel="successor-version"`,
    },
  },
  {
    title: 'RET-1: a moved version, for a POST',
    reason: 'version_moved',
    ask: { path: '/api/v0/orders?x=1', method: 'POST', body: '{}' },
    status: 308,
    body: {
      error: 'Permanent Redirect',
      message: 'API version v0 was retired on 2026-02-01.',
      replacement: 'https://127.0.0.1/api/v2/orders?x=1',
    },
    headers: { ...RETIRED, location: 'https://127.0.0.1/api/v2/orders?x=1' },
  },
  {
    title: 'RET-5: a moved version in the header, which a redirect would meet again',
    reason: 'version_retired',
    ask: { path: '/api/orders/7', headers: { 'api-version': 'v0' } },
    status: 410,
    body: {
      error: 'Gone',
      message: 'API version v0 was retired on 2026-02-01.',
      replacement: 'https://127.0.0.1/api/v2/orders/7',
    },
    headers: RETIRED,
  },
  {
    title: 'AUTH-2: no token',
    reason: 'credentials_missing',
    ask: { path: '/api/v2/orders' },
    status: 401,
    body: {
      error: 'Unauthorized',
      message: 'This API needs an access token: send Authorization: Bearer <token>.',
    },
    headers: {
      'www-authenticate':
        'Bearer realm="orders", resource_metadata="https://127.0.0.1/.well-known/oauth-protected-resource/api/orders"',
    },
  },
  {
    title: 'AUTH-1: a Bearer line with two tokens',
    reason: 'credentials_malformed',
    ask: { path: '/api/v2/orders', headers: { authorization: 'Bearer one two' } },
    status: 400,
    body: {
      error: 'Bad Request',
      message: 'The Authorization header is malformed: send one line, Bearer <token>.',
    },
    headers: { 'www-authenticate': 'Bearer realm="orders", error="invalid_request"' },
  },
  {
    title: 'AUTH-2: an invalid token',
    reason: 'token_invalid',
    ask: { path: '/api/v2/orders', headers: { authorization: 'Bearer canary-7f3a' } },
    status: 401,
    body: { error: 'Unauthorized', message: expect.stringMatching(/^The access token [ a-z]+\.$/) },
    headers: { 'www-authenticate': expect.stringMatching(/^Bearer realm="orders", error="invalid_token", /) },
  },
];
