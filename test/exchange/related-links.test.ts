// Links to versions other than the successor (RFC 5829), at the instants at which they appear and disappear.
import { describe, expect, it } from 'vitest';
import { workspace } from '../plan/workspace.ts';
import { explain } from '../support/file-commands.ts';

const VERSIONS = `versions:
  v1: { released: 2023-01-01, deprecated: 2024-01-01, sunset: 2026-01-01, successor: v2 }
  v2: { released: 2024-01-01, deprecated: 2025-01-01, sunset: 2027-01-01, successor: v3 }
  v3: { released: 2025-01-01 }
  v4: { released: 2026-06-01 }
`;
const POLICY = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" }, { header: API-Version } ]
access: public
rules: { successor-outlives: "off", notice-period: "off", migration-guide: "off" }
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
  v3: { targets: [http://127.0.0.1:4003] }
  v4: { targets: [http://127.0.0.1:4004] }
${VERSIONS}`;

/** `relation target` of every link of the response, from `explain`. */
async function linked(path: string, at: string, policy = POLICY, headers: readonly string[] = []) {
  await using files = await workspace({ 'policies/orders.yaml': policy });
  const now = Date.parse(at);
  const { text } = await explain(files, `GET ${path}`, { headers, now, today: now });
  const link = /^ {2}link: (.*)$/m.exec(text)?.[1] ?? '';
  if (!text.includes('answer ')) throw new Error(text);
  return [...link.matchAll(/<([^>]*)>; rel="([^"]*)"/g)].map(([, url, rel]) => `${rel} ${url}`);
}

/** Only the versions other than the successor. */
async function related(...args: Parameters<typeof linked>): Promise<readonly string[]> {
  const links = await linked(...args);
  return links.flatMap((link) => /^(latest|predecessor)-version (.*)$/.exec(link)?.slice(1).join(' ') ?? []);
}

const ORIGIN = 'https://api.example.com/api';

describe('links to versions other than the successor', () => {
  it.each<readonly [string, string, string, readonly string[]]>([
    [
      'a current version links its predecessor',
      '/api/v3/orders/7?x=1',
      '2026-01-01',
      [`predecessor ${ORIGIN}/v2/orders/7`],
    ],
    ['a current version links no ended predecessor', '/api/v3/orders/7', '2027-01-01', []],
    ['a version without a predecessor links none', '/api/v4/orders', '2026-07-01', []],
    ['the successor is not linked twice', '/api/v2/orders', '2026-01-01', []],
    [
      'a deprecated version links the newest and its predecessor',
      '/api/v2/orders/a%2Fb',
      '2025-06-01',
      [`predecessor ${ORIGIN}/v1/orders/a%2Fb`],
    ],
    [
      'the newest changes with a release',
      '/api/v2/orders/a%2Fb',
      '2026-06-01',
      [`latest ${ORIGIN}/v4/orders/a%2Fb`],
    ],
    ['the newest is not linked a second earlier', '/api/v2/orders', '2026-05-31T23:59:59Z', []],
    [
      'a retired version links the newest too',
      '/api/v1/orders',
      '2026-06-01',
      [`latest ${ORIGIN}/v4/orders`],
    ],
    ['a hostile path does not end a link', '/api/v4/orders/"><x>', '2026-07-01', []],
  ])('%s', async (_name, request, at, links) => {
    expect(await related(request, at)).toEqual(links);
  });

  it('a version that only a header names has no links to other versions', async () => {
    const policy = POLICY.replace('{ path: "/api/{version}/orders" }, ', '');
    expect(await related('/api/orders', '2026-01-01', policy, ['API-Version: 3'])).toEqual([]);
  });
});

describe('RFC 5829: the relations of a response', () => {
  const DOCS = 'https://docs.example.com';
  const STATUS = 'https://status.example.com/orders';
  const PAGE = 'https://api.example.com/.well-known/lifecycle/orders';
  const policy = POLICY.replace(
    'access: public',
    `access: public\nservice_doc: ${DOCS}/orders\nservice_desc: ${DOCS}/openapi.yaml`,
  )
    .replace('successor: v3 }', `successor: v3, guide: "${DOCS}/v2-to-v3", status: "${STATUS}" }`)
    .replace('v4: { released: 2026-06-01 }', `v4: { released: 2026-06-01, service_desc: "${DOCS}/v4" }`);
  const without = policy.replace('successor: v3,', `alternate: "${DOCS}/instead",`);
  const CALLED = [`service-doc ${DOCS}/orders`, `service-desc ${DOCS}/openapi.yaml`];
  const [V1, V2, V3, V4] = ['v1', 'v2', 'v3', 'v4'].map((label) => `${ORIGIN}/${label}/orders/7`);
  const LIFECYCLE = [`deprecation ${DOCS}/v2-to-v3`, `status ${STATUS}`, `sunset ${PAGE}`];

  it.each<readonly [string, string, string, readonly string[]]>([
    [
      'before any deprecation: documentation and predecessor',
      'v3',
      '2025-06-01',
      [...CALLED, `predecessor-version ${V2}`],
    ],
    [
      'with its own description',
      'v4',
      '2026-07-01',
      [`service-doc ${DOCS}/orders`, `service-desc ${DOCS}/v4`],
    ],
    [
      'deprecated: guide, status, policy page, documentation, successor and predecessor',
      'v2',
      '2025-06-01',
      [...LIFECYCLE, ...CALLED, `successor-version ${V3}`, `predecessor-version ${V1}`],
    ],
    [
      'deprecated, with a successor that is not the newest',
      'v2',
      '2026-06-01',
      [...LIFECYCLE, ...CALLED, `successor-version ${V3}`, `latest-version ${V4}`],
    ],
    [
      'after the sunset: no documentation',
      'v2',
      '2027-01-01',
      [...LIFECYCLE, `successor-version ${V3}`, `latest-version ${V4}`],
    ],
  ])('%s', async (_name, label, at, links) => {
    expect(await linked(`/api/${label}/orders/7`, at, policy)).toEqual(links);
  });

  it('deprecated without a successor: the alternate', async () => {
    expect(await linked('/api/v2/orders/7', '2026-06-01', without)).toEqual([
      ...LIFECYCLE,
      `alternate ${DOCS}/instead`,
      ...CALLED,
      `latest-version ${V4}`,
    ]);
  });

  it.each(['/', '/nothing-here'])('without an API, at %s: the catalog', async (path) => {
    expect(await linked(path, '2026-06-01', policy)).toEqual([
      'api-catalog https://api.example.com/.well-known/api-catalog',
    ]);
  });

  it('at the root of an API: its own links and the catalog', async () => {
    const root = `api: root\nbase: /\naccess: public\nservice_doc: ${DOCS}\nupstreams: { any: { targets: [http://127.0.0.1:4001] } }\nversions: none\n`;
    const catalog = 'api-catalog https://api.example.com/.well-known/api-catalog';
    expect(await linked('/', '2026-06-01', root)).toEqual([`service-doc ${DOCS}/`, catalog]);
    expect(await linked('/else', '2026-06-01', root)).toEqual([`service-doc ${DOCS}/`]);
  });
});
