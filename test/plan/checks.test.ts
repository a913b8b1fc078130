// Tests `check` over several files: all problems together, cases without findings, and concealed values.
import { describe, expect, it } from 'vitest';
import { GATEWAY, ORDERS, workspace } from './workspace.ts';

describe('check', () => {
  it('builds a plan and settings for valid files', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const loaded = await files.load();
    expect(loaded.problems).toEqual([]);
    expect(loaded.plan?.apis[0]?.versions.size).toBe(2);
    expect(loaded.settings?.public).toBe('https://api.example.com');
  });

  it('reports shape and reference problems of all files together', async () => {
    await using files = await workspace({
      'config/gateway.yaml': GATEWAY.replace('audience: api', 'audiense: api'),
      'policies/a.yaml': ORDERS.replace('sunset: 2027-01-15', 'sunset: 2027-02-30').replace(
        'default: v2',
        'default: v9',
      ),
      'policies/b.yaml': ORDERS.replace('identity: main', 'identity: other').replace(
        'api: orders',
        'api: more',
      ),
    });
    expect(await files.problems()).toEqual([
      expect.stringMatching(/^config.*error: the key "audience" is missing/),
      expect.stringMatching(/^config.*error: unknown key "audiense"/),
      expect.stringMatching(/^policies\/a.*error: no version is called "v9"/),
      expect.stringMatching(/^policies\/a.*error: not a calendar date/),
      expect.stringMatching(
        /^policies\/b.yaml:2.*error: this host and path belong to the API in policies\/a.yaml/,
      ),
      expect.stringMatching(
        /^policies\/b.yaml:3.*error: this host and path belong to the API in policies\/a.yaml/,
      ),
      expect.stringMatching(/^policies\/b.*error: no identity is called "other"/),
    ]);
  });

  it('names both files that describe one API', async () => {
    await using files = await workspace({ 'policies/a.yaml': ORDERS, 'policies/b.yaml': ORDERS });
    expect(await files.problems()).toContain(
      'policies/b.yaml:1 «orders» error: the API "orders" is already described in policies/a.yaml',
    );
  });

  it('warns of a base that equals a version path of another API and takes its requests', async () => {
    const hooks = (base: string) =>
      `api: hooks\nbase: ${base}\naccess: public\nupstreams: { any: { targets: [http://127.0.0.1:4001] } }\nversions: none\n`;
    await using files = await workspace({
      'policies/a.yaml': hooks('/api/v2/orders'),
      'policies/orders.yaml': ORDERS,
    });
    expect(await files.problems()).toEqual([
      'policies/a.yaml:2 «/api/v2/orders» warning: requests for v2 of the API in policies/orders.yaml are routed here instead (choose a path without a version of that API as a segment)',
    ]);
    for (const base of ['/api/v9/orders', '/api/v2/orders/archive', '/v2/orders']) {
      await files.write('policies/a.yaml', hooks(base));
      expect(await files.problems()).toEqual([]);
    }
  });

  it('treats the names of this machine as one host', async () => {
    await using files = await workspace({
      'policies/a.yaml': `host: localhost\n${ORDERS}`,
      'policies/b.yaml': `host: 127.0.0.1\n${ORDERS.replace('api: orders', 'api: more')}`,
    });
    expect((await files.problems()).join('\n')).toContain(
      'this host and path belong to the API in policies/a.yaml',
    );
  });

  it('RET-11: needs no upstream for a version after its sunset', async () => {
    const retired = ORDERS.replace(/\n {2}v1: \{ targets.*/, '')
      .replace('deprecated: 2026-01-15, sunset: 2027-01-15', 'deprecated: 2025-01-15, sunset: 2026-06-01')
      .replace('released: 2026-01-15', 'released: 2025-01-15');
    await using files = await workspace({ 'policies/orders.yaml': retired });
    expect(await files.problems()).toEqual([]);
    expect((await files.load()).plan?.apis[0]?.versions.get('v1')?.upstream).toBeUndefined();
  });

  it('RET-4: only warns of a redirect whose target ended after the version', async () => {
    const ended = ORDERS.replace(
      'deprecated: 2026-01-15, sunset: 2027-01-15,',
      'deprecated: 2024-06-01, sunset: 2025-06-01, after: { redirect: v2 },',
    ).replace(
      'v2: { released: 2026-01-15',
      'v2: { released: 2024-06-01, deprecated: 2024-09-01, sunset: 2026-02-01, guide: https://docs.example.com/v3',
    );
    await using files = await workspace({
      'policies/orders.yaml': `${ended}rules: { parallel-versions: off }\n`,
    });
    expect(await files.problems()).toEqual([
      'policies/orders.yaml:9 «v2» warning: v1 ends on 2025-06-01, and the redirect ends on 2026-02-01 with v2 (sunset of v2 2026-06-01 or later)',
    ]);
    expect((await files.load()).plan).toBeDefined();
  });

  it('RET-5: reports a redirect without a path for the version', async () => {
    const text = ORDERS.replace('{ path: "/api/{version}/orders" }, ', '').replace(
      'successor: v2',
      'after: { redirect: v2 }',
    );
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems()).toEqual([
      'policies/orders.yaml:3 «resolve» warning: no path or subdomain has the version, so a redirect would return to the same URL: requests get 410',
    ]);
  });

  it('refuses keys without effect in an API without versions', async () => {
    await using files = await workspace({
      'policies/open.yaml': `api: open
base: /open
access: public
warning: false
deprecation_header: "true"
limits: { rate: 1/1s, deprecated: 50% }
resolve: [{ default: v1 }]
upstreams: { open: { targets: [http://127.0.0.1:4001], version_as: none } }
rewrite_content_type: true
unknown_version_status: 404
upstream_wins: true
versions: none
`,
    });
    const nothing = (line: number, key: string, and = '') =>
      `policies/open.yaml:${line} «${key}» error: ${key} has no effect in an API with "versions: none"${and}`;
    const undated = ' and no deprecation date';
    expect(await files.problems()).toEqual([
      nothing(4, 'warning', undated),
      nothing(5, 'deprecation_header', undated),
      nothing(6, 'deprecated', undated),
      nothing(7, 'resolve'),
      nothing(8, 'version_as'),
      nothing(9, 'rewrite_content_type'),
      nothing(10, 'unknown_version_status'),
      nothing(11, 'upstream_wins', undated),
    ]);
  });

  it.each([
    ['deprecated: 2026-01-15', 'deprected: 2026-01-15', 'deprected', 'deprecated'],
    ['sunset: 2027-01-15', 'retired: 2028-01-15, sunnset: 2027-01-15', 'sunnset', 'sunset'],
  ])('does not also report a misspelt key as missing: %s', async (from, to, wrong, right) => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS.replace(from, to) });
    expect(await files.problems()).toEqual([
      `policies/orders.yaml:9 «${wrong}» error: unknown key "${wrong}" (did you mean "${right}"?)`,
    ]);
  });

  it('does not compare limits with a shadow limit of everyone', async () => {
    const limits = '[ { rate: 60/1m }, { name: all, rate: 50/1m, by: everyone, shadow: true } ]';
    const text = ORDERS.replace('base:', `limits: ${limits}\nbase:`);
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems()).toEqual([]);
  });

  it('accepts a deprecated limit as high as the rate, and one of an active version', async () => {
    const text = ORDERS.replace('base:', 'limits: { rate: 60/1m, deprecated: 1/1s }\nbase:').replace(
      'released: 2026-01-15',
      'released: 2026-01-15, limits: { rate: 10/1m }',
    );
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems()).toEqual([]);
  });

  it('reports a malformed value of a variable with the name of the variable', async () => {
    const gateway = GATEWAY.replace('127.0.0.1:9901', `127.0.0.1:\${env:ADMIN}`);
    await using files = await workspace({ 'config/gateway.yaml': gateway, 'policies/orders.yaml': ORDERS });
    expect(await files.problems({ ADMIN: 'hunter2' })).toEqual([
      `config/gateway.yaml:2 «"127.0.0.1:\${env:ADMIN}"» error: not an address such as 127.0.0.1:8443 or :8443: [redacted] (from ADMIN)`,
    ]);
  });

  it('takes an unquoted number as written, with a warning', async () => {
    const text = ORDERS.replace('released: 2024-06-01,', 'released: 2024-06-01, reason: 1.10,');
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems()).toEqual([
      'policies/orders.yaml:9 «1.10» warning: 1.10 is read as a number: write it in quotes',
    ]);
    expect((await files.load()).plan?.apis[0]?.versions.get('v1')?.schedule.reason).toBe('1.10');
  });

  it('reports an unreadable secret once, and not as written in the file', async () => {
    const token = `"127.0.0.1:9901", token: "\${file:/nowhere/admin-token}"`;
    await using files = await workspace({
      'config/gateway.yaml': GATEWAY.replace('"127.0.0.1:9901"', token),
      'policies/orders.yaml': ORDERS,
    });
    expect(await files.problems()).toEqual([
      expect.stringMatching(/error: cannot read the file \/nowhere\/admin-token: no such file$/),
    ]);
  });

  it('reports client certificates without server certificates once', async () => {
    const tls = '"127.0.0.1:8443", tls: { client_certificates: { ca: clients.pem, mode: optional } }';
    await using files = await workspace({
      'config/gateway.yaml': GATEWAY.replace('"127.0.0.1:8443"', tls).replace(
        'identity: {',
        'identity: { mtls: { certificate: { consumer: san_dns } },',
      ),
      'policies/orders.yaml': ORDERS,
    });
    expect(await files.problems()).toEqual([
      expect.stringContaining('error: the key "certificates" is missing: name a certificate of the gateway'),
    ]);
  });

  it('shows no substituted value in any message', async () => {
    const text = ORDERS.replace(
      'v1: { targets: [http://127.0.0.1:4001]',
      `v1: { targets: ["\${env:S}"], path: "\${env:S}"`,
    )
      .replace('identity: main', `identity: "\${env:S}"`)
      .replace(
        'successor: v2',
        `successor: "\${env:S}", status: "\${env:S}", after: { redirect: "\${env:S}" }`,
      )
      .replace('api: orders', `api: "\${env:S}"`);
    await using files = await workspace({ 'policies/orders.yaml': text });
    const { problems } = await files.load({ S: 'hunter2 x' });
    expect(problems.length).toBeGreaterThanOrEqual(7);
    expect(JSON.stringify(problems)).not.toContain('hunter2');
    expect(JSON.stringify(problems)).toContain('[redacted]');
  });
});
