// Tests checks and defaults of connections, header fields and sizes. Each row has one mistake.
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import { makeKeyPair } from '../support/key-pairs.ts';
import { NOW, ORDERS, workspace } from './workspace.ts';

const V1 = '  v1: { targets: [http://127.0.0.1:4001] }';
const upstream = (rest: string, target = 'http://127.0.0.1:4001'): string =>
  ORDERS.replace(V1, `  v1: { targets: [${target}], ${rest} }`);
const headers = (rest: string): string => ORDERS.replace('upstreams:', `headers: { ${rest} }\nupstreams:`);

let pair: { readonly cert: string; readonly key: string };
let other: { readonly cert: string; readonly key: string };
beforeAll(async () => {
  const DAY = 86_400_000;
  pair = await makeKeyPair({ names: ['a.internal'], from: NOW - DAY, until: NOW + DAY });
  other = await makeKeyPair({ names: ['b.internal'], from: NOW - DAY, until: NOW + DAY });
});

async function problems(text: string, environment: Record<string, string> = {}): Promise<readonly string[]> {
  await using files = await workspace({
    'policies/orders.yaml': text,
    'policies/a.pem': pair.cert,
    'policies/nonsense.pem': 'nonsense',
  });
  for (const [name, key] of [
    ['a.key', pair.key],
    ['b.key', other.key],
  ] as const) {
    const file = join(files.folder, 'policies', name);
    await writeFile(file, key);
    await chmod(file, 0o600);
  }
  return (await files.problems(environment)).map((problem) => problem.replace('policies/orders.yaml:', ''));
}

async function compiled(text: string, environment: Record<string, string> = {}): Promise<GatewayPlan> {
  await using files = await workspace({ 'policies/orders.yaml': text });
  const { plan, problems: found } = await files.load(environment);
  expect(found).toEqual([]);
  if (plan === undefined) throw new Error('no plan');
  return plan;
}

const GATEWAYS = 'error: %s is reserved for the gateway: it carries %s';
const gateways = (name: string, what: string): string => GATEWAYS.replace('%s', name).replace('%s', what);
const FRAMING = 'connection framing';
const WHO = 'the identity or address of the caller';
const LIFE = 'the lifecycle of the API';

describe('check', () => {
  it.each<[string, string, string]>([
    ['zero connections', 'connections: { max: 0 }', '6 «0» error: less than 1: 0'],
    ['a share above 100%', 'retries: { budget: 120% }', '6 «120%» error: not a share such as 20%: "120%"'],
    ['an unknown word', 'retries: on', '6 «on» error: expected "off" or a map: "on"'],
    [
      'a host with a path',
      'host: orders.internal/x',
      '6 «orders.internal/x» error: not a host in lower case, with or without a port: "orders.internal/x"',
    ],
  ])('%s in an upstream', async (_, rest, expected) => {
    expect(await problems(upstream(rest))).toEqual([expected]);
  });

  const secure = (tls: string, target = 'https://127.0.0.1:4001') => upstream(`tls: { ${tls} }`, target);
  it.each<[string, string, readonly string[]]>([
    ['all keys', secure('ca: a.pem, cert: a.pem, key: a.key, name: orders.internal'), []],
    [
      'a missing file',
      secure('ca: gone.pem'),
      ['6 «gone.pem» error: cannot read the authorities: no such file'],
    ],
    [
      'no certificates',
      secure('ca: nonsense.pem'),
      ['6 «nonsense.pem» error: not a PEM file of certificates'],
    ],
    ['a certificate without key', secure('cert: a.pem'), ['6 «cert» error: cert needs key beside it']],
    ['a key without certificate', secure('key: a.key'), ['6 «key» error: key needs cert beside it']],
    [
      'the key of another certificate',
      secure('cert: a.pem, key: b.key'),
      ['6 «a.pem» error: not a PEM certificate with its private key'],
    ],
    [
      'targets without TLS',
      secure('name: a.internal', 'http://127.0.0.1:4001'),
      ['6 «tls» warning: tls has no effect: a target begins with http:'],
    ],
    [
      'an address in place of a name',
      secure('name: 127.0.0.1'),
      [
        '6 «127.0.0.1» error: not a host name in lower case, without a port; an address is not allowed: "127.0.0.1"',
      ],
    ],
  ])('tls with %s', async (_, text, expected) => {
    expect(await problems(text)).toEqual(expected);
  });

  it.each<[string, string, string]>([
    ['request: { set: { Content-Length: "1" } }', '«Content-Length»', gateways('content-length', FRAMING)],
    [
      'request: { remove: [Transfer-Encoding] }',
      '«Transfer-Encoding»',
      gateways('transfer-encoding', FRAMING),
    ],
    ['response: { remove: [connection] }', '«connection»', gateways('connection', FRAMING)],
    ['request: { set: { X-Forwarded-For: a } }', '«X-Forwarded-For»', gateways('x-forwarded-for', WHO)],
    ['request: { set: { x-user-id: a } }', '«x-user-id»', gateways('x-user-id', WHO)],
    ['request: { set: { API-Version: v9 } }', '«API-Version»', gateways('api-version', 'the version')],
    [
      'request: { set: { Host: a } }',
      '«Host»',
      `${gateways('host', 'the host')} (write host: in the section of the upstream)`,
    ],
    [
      'request: { set: { X-Forwarded-Prefix: /a } }',
      '«X-Forwarded-Prefix»',
      `${gateways('x-forwarded-prefix', 'the path prefix for clients')} (write locations: prefix)`,
    ],
    ['response: { remove: [Sunset] }', '«Sunset»', gateways('sunset', LIFE)],
    ['response: { set: { Deprecation: "@1" } }', '«Deprecation»', gateways('deprecation', LIFE)],
    ['response: { set: { Link: "</a>" } }', '«Link»', gateways('link', LIFE)],
    [
      'response: { remove: [RateLimit-Policy] }',
      '«RateLimit-Policy»',
      gateways('ratelimit-policy', 'the limits of the caller'),
    ],
    [
      'response: { remove: [Idempotency-Replayed] }',
      '«Idempotency-Replayed»',
      gateways('idempotency-replayed', 'the mark of a replayed response'),
    ],
    ['request: { set: { "X Y": a } }', '«"X**"»', 'error: not a field name'],
    ['request: { set: { X-A: a, x-a: b } }', '«x-a»', 'error: x-a is set above'],
    [
      'request: { set: { X-A: a }, remove: [X-A] }',
      '«X-A»',
      'error: x-a is in set too, which replaces it (name it in one of the two)',
    ],
  ])('headers: %s', async (written, at, expected) => {
    expect(await problems(headers(written))).toEqual([`5 ${at} ${expected}`]);
  });

  it.each([
    ['a\r\nX-Evil: 1', 'this text has several lines (from TENANT)'],
    ['a\nb', 'this text has several lines (from TENANT)'],
    ['\u0000', 'the control character U+0000 is not allowed in a text (from TENANT)'],
    ...['ä', '', ' a'].map((value) => [
      value,
      'not a field value: visible ASCII characters and blanks on one line: [redacted]',
    ]),
  ])('a field value cannot be %j, and substituted values are not shown', async (value, expected) => {
    const text = headers(`request: { set: { X-Tenant: "\${env:TENANT}" } }`);
    const [found = ''] = await problems(text, { TENANT: value });
    expect(found).toContain(`error: ${expected}`);
    expect(found).not.toContain('Evil');
  });

  it('a media type that carries versions reserves its fields for the gateway', async () => {
    const typed = headers('request: { set: { Accept: text/plain } }').replace(
      '{ default: v2 }',
      '{ media_type: "application/vnd.acme.{version}+json" }, { default: v2 }',
    );
    expect(await problems(typed)).toEqual([`5 «Accept» ${gateways('accept', 'the version')}`]);
  });
});

describe('the compiler', () => {
  it('fills in defaults', async () => {
    const [api] = (await compiled(ORDERS)).apis;
    expect(api?.headers).toBeUndefined();
    expect(api?.versions.get('v1')).toMatchObject({
      maxBody: 1_024 ** 3,
      upstream: {
        host: undefined,
        connections: { max: 256, queue: 1_024, waitMs: 1_000 },
        retries: { attempts: 1, budget: 0.2 },
        http2: false,
        tls: undefined,
      },
    });
  });

  it('uses written values', async () => {
    const rest =
      'connections: { max: 2, queue: 0, wait: 5s }, retries: { attempts: 2, budget: 5% }, http2: true, host: "a.internal:81"';
    const [api] = (await compiled(upstream(rest))).apis;
    expect(api?.versions.get('v1')?.upstream).toMatchObject({
      host: 'a.internal:81',
      connections: { max: 2, queue: 0, waitMs: 5_000 },
      retries: { attempts: 2, budget: 0.05 },
      http2: true,
    });
    const [none] = (await compiled(upstream('retries: off'))).apis;
    expect(none?.versions.get('v1')?.upstream?.retries).toBeUndefined();
  });

  it('lower-cases field names, and accepts x- as the start of one', async () => {
    const text = headers('request: { set: { X-Tenant: acme, x-plain: a }, remove: [X-Debug] }');
    const [api] = (await compiled(text)).apis;
    expect(api?.headers).toEqual({
      request: { set: { 'x-tenant': 'acme', 'x-plain': 'a' }, remove: ['x-debug'] },
      response: { set: {}, remove: [] },
    });
  });

  it('passes sizes from the API to versions and operations', async () => {
    const text = ORDERS.replace('upstreams:', 'max_body: 1MB\nupstreams:').replace(
      '{ released: 2026-01-15 }',
      '{ released: 2026-01-15, max_body: 2MB, operations: { "POST /uploads": { max_body: 2GB }, "GET /search": { limits: { rate: 1/1m } } } }',
    );
    const [api] = (await compiled(text)).apis;
    const [v1, v2] = ['v1', 'v2'].map((label) => api?.versions.get(label));
    expect([v1?.maxBody, v2?.maxBody]).toEqual([1_024 ** 2, 2 * 1_024 ** 2]);
    expect(v2?.operations?.match('POST', '/uploads')?.rules.maxBody).toBe(2 * 1_024 ** 3);
    expect(v2?.operations?.match('GET', '/search')?.rules.maxBody).toBe(2 * 1_024 ** 2);
  });

  it('changes the revision of the plan when a TLS file changes', async () => {
    const text = upstream('tls: { ca: a.pem }', 'https://127.0.0.1:4001');
    await using files = await workspace({ 'policies/orders.yaml': text, 'policies/a.pem': pair.cert });
    const before = (await files.load()).plan;
    await files.write('policies/a.pem', other.cert);
    const after = (await files.load()).plan;
    expect(before?.apis[0]?.versions.get('v1')?.upstream?.tls?.ca).toBe(pair.cert);
    expect(after?.revision).not.toBe(before?.revision);
  });
});
