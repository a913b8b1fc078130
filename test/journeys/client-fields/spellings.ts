// All spellings of a field name that a service may read as the same variable (CGI, WSGI, FastCGI).

import { CLAIMED_NAMES, CLAIMED_PREFIXES } from '../../../gateway/policy/headers/client-fields.ts';

/** Fields of clients that no upstream may get, independent of the gateway's own table. */
const LISTED: readonly string[] = [
  ...['X-Forwarded', 'X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Forwarded-Port'],
  ...['X-Forwarded-Prefix', 'X-Forwarded-User', 'X-Forwarded-Anything', 'Forwarded', 'Forwarded-For'],
  ...['Forwarded-Host', 'X-Real-IP', 'X-Client-IP', 'X-Cluster-Client-IP', 'True-Client-IP', 'Client-IP'],
  ...['CF-Connecting-IP', 'Fastly-Client-IP', 'WL-Proxy-Client-IP', 'Proxy-Client-IP', 'X-Azure-ClientIP'],
  ...['X-Envoy-External-Address', 'X-Envoy-Original-Path', 'X-Original-Forwarded-For', 'X-Original-URL'],
  ...['X-Original-URI', 'X-Original-Host', 'X-Rewrite-URL', 'X-Host', 'X-Scheme', 'Front-End-Https'],
  ...['X-Middleware-Subrequest', 'Remote-User', 'X-WebAuth-User', 'X-Client-Id', 'X-Scopes', 'X-User-Id'],
  ...[
    'X-User-',
    'X-Client-DN',
    'X-Client-Verify',
    'X-Client-Cert',
    'X-Client-Cert-Chain',
    'X-TLS-Client-Cert',
  ],
  ...['X-ARR-ClientCert', 'Client-Cert', 'Client-Cert-Chain', 'SSL-Client-Cert', 'SSL-Client-Verify'],
  ...['X-SSL-Client-Cert', 'X-SSL-Client-S-DN', 'X-SSL-Client', 'X-Remote-User', 'X-Remote-Group'],
  ...['X-Remote-Extra-Scopes', 'X-Auth-Request-User', 'X-Auth-Request-Access-Token', 'Proxy'],
  ...['X-MS-Client-Principal', 'X-MS-Client-Principal-Id', 'X-Goog-Authenticated-User-Email'],
];

/** These and the gateway's table: each name, and each prefix with and without a suffix. */
export const DROPPED: readonly string[] = [
  ...new Set([
    ...LISTED,
    ...CLAIMED_NAMES,
    ...CLAIMED_PREFIXES.flatMap((prefix) => [prefix, `${prefix}x`, `${prefix}-Some-Thing`]),
  ]),
];

export interface FieldLine {
  readonly name: string;
  readonly value: string;
}

/** Each spelling has a value of its own, so that a forwarded line can be identified. */
export function spellingsOf(name: string): readonly FieldLine[] {
  const lower = name.toLowerCase();
  const spelled = [
    ...[name, lower, name.toUpperCase(), alternating(name)],
    ...['_', '.', '~', '+', '!', '|'].map((mark) => name.replaceAll('-', mark)),
    ...[lower.replace('-', '_'), lower.replace(/-(?=[^-]*$)/, '.')],
  ];
  return [...new Set(spelled)].map((each, index) => ({ name: each, value: `canary:${lower}:${index}` }));
}

function alternating(name: string): string {
  return [...name.toLowerCase()].map((letter, at) => (at % 2 === 0 ? letter : letter.toUpperCase())).join('');
}

/** Batches that fit into one header section, with every line twice. */
export function batchesOf(names: readonly string[]): readonly (readonly FieldLine[])[] {
  const lines = names
    .flatMap(spellingsOf)
    .flatMap((line) => [line, { ...line, value: `${line.value}:again` }]);
  const size = 110;
  return Array.from({ length: Math.ceil(lines.length / size) }, (_, at) =>
    lines.slice(at * size, (at + 1) * size),
  );
}
