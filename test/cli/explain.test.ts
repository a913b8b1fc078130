// `sundial explain`: what it prints of a request, with the line behind each decision, and what it refuses to read.
import { describe, expect, it } from 'vitest';
import { type ExplainOptions, runExplain } from '../../gateway/cli/explain.ts';
import { NOW, workspace } from '../plan/workspace.ts';

const explain = (
  files: { readonly folder: string; readonly configFile: string },
  request: string,
  options: Partial<ExplainOptions> = {},
) =>
  runExplain({
    request,
    headers: [],
    as: undefined,
    scopes: undefined,
    paused: undefined,
    format: 'text',
    configFile: files.configFile,
    environment: {},
    now: NOW,
    today: NOW,
    colour: false,
    cwd: files.folder,
    ...options,
  });

const ORDERS = `api: orders
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
/** Versions are days; nothing is left after the first but what follows it. */
const FLOOR = `api: orders
base: /api/orders
resolve: [ { header: API-Version, match: floor } ]
access: public
versions:
  2026-01-01: { released: 2026-01-01, deprecated: 2026-01-15, sunset: 2027-01-15 }
`;
/** The dates are those of the API as a whole. */
const SHARED = `api: orders
base: /api/orders
forgotten: 2028-01-15
resolve: [ { path: "/api/{version}/orders" } ]
access: public
deprecated: 2026-01-15
sunset: "2027-01-15"
versions: { v1: { released: 2024-06-01 } }
`;
const policies = { 'policies/orders.yaml': ORDERS };

describe('what changes next', () => {
  it('names the end of the operation that a redirect leads to', async () => {
    await using files = await workspace({
      'policies/orders.yaml': ORDERS.replace(
        'v2: { released: 2026-01-15 }',
        'v2: { released: 2026-01-15, operations: { GET /find: { deprecated: 2026-02-01, sunset: 2027-06-01 } } }',
      ).replace(
        'status: https://status.example.com/v1 }',
        'operations: { GET /search: { deprecated: 2026-01-15, sunset: 2026-12-15, successor: v2 GET /find, after: redirect } } }',
      ),
    });
    const { text } = await explain(files, 'GET /api/v1/orders/search');
    expect(text.split('\n').filter((line) => /^(next| {6}).*20\d\d-/.test(line))).toEqual([
      expect.stringMatching(/^next +2026-12-15 .*301 .*\/api\/v2\/orders\/find/),
      expect.stringMatching(/^ +2027-06-01 .*410/),
    ]);
  });
});

describe('what changes next where versions are days', () => {
  it('VER-5: a day that is still to come counts from its first instant on', async () => {
    const payments = `api: payments
base: /api/payments
resolve: [ { header: API-Version, match: floor } ]
access: public
upstreams: { 2026-06-01: { targets: [http://127.0.0.1:4001] } }
versions: { 2026-06-01: { released: 2026-06-01, deprecated: 2026-06-10, sunset: 2027-06-10 } }
`;
    await using files = await workspace({ 'policies/payments.yaml': payments });
    const headers = ['API-Version: 2026-12-20'];
    const { text } = await explain(files, 'GET /api/payments', { headers });
    expect(text).toContain('answer    400 Bad Request\n');
    expect(text).toContain('\nnext      2026-12-20            2026-06-01 deprecated: forwarded\n');
  });
});

describe('what changes next in the headers', () => {
  const nextOf = async (policy: string, request: string, options: Partial<ExplainOptions> = {}) => {
    await using files = await workspace({ 'policies/orders.yaml': policy });
    const { text } = await explain(files, request, { as: 'acme', ...options });
    return text
      .slice(text.indexOf('\nnext '))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.slice(10).replace(/ +/, ' '));
  };
  const later = (dates: string) =>
    ORDERS.replace('default: v2', 'default: v1').replace('2026-01-15 }', dates);

  it('LNK-2: a successor is linked from its release on', async () => {
    expect(await nextOf(later('2026-12-01 }'), 'GET /api/v1/orders/7')).toEqual([
      '2026-12-01 v1 deprecated: forwarded, links v2 as successor',
      '2027-01-15 v1 retired: 410 Gone, version_retired',
    ]);
    expect(await nextOf(later('2026-12-01 }'), 'GET /api/v2/orders/7')).toEqual([
      '2026-12-01 v2 active: forwarded',
      '2027-01-15 v2 active: forwarded, no longer links v1 as predecessor',
    ]);
  });

  it('LNK-2: one that ends hands over to the one that follows on it, and what has ended tells of it', async () => {
    const chain = later(
      '2026-01-15, deprecated: 2026-02-01, sunset: 2027-03-01, successor: v3, guide: https://docs.example.com/v3 }\n  v3: { released: 2026-12-01 }',
    ).replace('upstreams:\n', 'upstreams:\n  v3: { targets: [http://127.0.0.1:4003] }\n');
    const policy = `${chain}rules: { successor-outlives: "off" }\n`;
    expect(await nextOf(policy, 'GET /api/v1/orders/7')).toEqual([
      '2026-12-01 v1 deprecated: forwarded, links v3 as latest version',
      '2027-01-15 v1 retired: 410 Gone, version_retired',
      '2027-03-01 v1 retired: 410 Gone, version_retired, links v3 as successor, no longer links v3 as latest version',
    ]);
  });

  it('RL-11: the limit is told when it is another, and a curve once', async () => {
    const spared = ORDERS.replace(
      'successor: v2',
      'successor: v2, exceptions: [{ consumer: acme, until: 2026-12-24, from: [limits], why: x, by: y }]',
    );
    expect(await nextOf(spared, 'GET /api/v1/orders')).toEqual([
      '2026-12-24 v1 deprecated: forwarded, limit 300 per 1m',
      '2027-01-15 v1 retired: 410 Gone, version_retired',
    ]);
    const curve = spared.replace('deprecated: 50%', 'deprecated: { from: 50%, to: 10% }');
    expect(await nextOf(curve, 'GET /api/v1/orders')).toEqual([
      '2026-12-24 v1 deprecated: forwarded, limit falls by the day',
      '2027-01-15 v1 retired: 410 Gone, version_retired',
    ]);
    // Whatever else happens, its steps are no changes.
    const stepping = curve
      .replace('v2: { released: 2026-01-15', 'v2: { released: 2026-12-28')
      .replace('default: v2', 'default: v1');
    expect(await nextOf(stepping, 'GET /api/v1/orders', { as: 'other' })).toEqual([
      '2026-12-28 v1 deprecated: forwarded, links v2 as successor',
      '2027-01-15 v1 retired: 410 Gone, version_retired',
    ]);
  });
});

describe('explain', () => {
  it('prints every decision with the line that made it, the lines of the answer, and what changes next', async () => {
    await using files = await workspace(policies);
    expect(await explain(files, 'GET /api/v1/orders/7?x=1', { as: 'acme' })).toEqual({
      exitCode: 0,
      text: `GET https://api.example.com/api/v1/orders/7?x=1, 2026-11-20T00:00:00Z

api       orders      /api/{version}/orders, active                                 policies/orders.yaml:3
version   v1          from the path                                                 policies/orders.yaml:3
stage     deprecated  deprecated since 2026-01-15, sunset 2027-01-15, in 56 days    policies/orders.yaml:10
identity  acme        main (assumed: it has the scopes)                             policies/orders.yaml:4
limit     300 per 1m  limit deprecated, by consumer (assumed: nothing counted yet)  policies/orders.yaml:5
forward   orders-v1   GET http://127.0.0.1:4001/api/orders/7?x=1                    policies/orders.yaml:7

answer    that of the upstream, with these lines
  deprecation: @1768435200
  sunset: Fri, 15 Jan 2027 00:00:00 GMT
  x-api-deprecation-info: https://status.example.com/v1
  link: <https://docs.example.com/v2>; rel="deprecation"; type="text/html", <https://status.example.com/v1>; rel="status", <https://api.example.com/.well-known/lifecycle/orders>; rel="sunset", <https://api.example.com/api/v2/orders/7>; rel="successor-version"
  warning: 299 - "Version v1 is deprecated and will be removed on 2027-01-15; see https://docs.example.com/v2"
  x-ratelimit-limit: 300
  x-ratelimit-remaining: 299
  ratelimit-policy: "deprecated";q=300;w=60
  ratelimit: "deprecated";r=299;t=1
  vary: API-Version

next      2027-01-15            v1 retired: 410 Gone, version_retired
`,
    });
  });

  it('§1.5: prints what is added to a body, and the line that asks for it', async () => {
    await using files = await workspace({
      'policies/orders.yaml': ORDERS.replace('successor: v2,', 'body_notice: true, successor: v2,'),
    });
    const request = 'GET /api/v1/orders/7';
    const { text } = await explain(files, request, { as: 'acme' });
    expect(text).toMatch(
      /^notice {4}_deprecation +added where the body is a JSON object +policies\/orders\.yaml:10$/m,
    );
    const notice = {
      deprecated: true,
      sunset_date: '2027-01-15',
      replacement: 'https://api.example.com/api/v2/orders/7',
      migration_guide: 'https://docs.example.com/v2',
    };
    expect(text).toContain(`\n\n  {"_deprecation":${JSON.stringify(notice)}, …}\n`);
    const machine = await explain(files, request, { as: 'acme', format: 'json' });
    expect(JSON.parse(machine.text).answer.body).toEqual({ _deprecation: notice });
    for (const other of ['HEAD /api/v1/orders/7', 'GET /api/v2/orders/7'])
      expect((await explain(files, other, { as: 'acme' })).text).not.toContain('{"_deprecation"');
  });

  it('DEP-2: says which lines an upstream may send instead, and the line that lets it', async () => {
    const text = `upstream_wins: true\n${ORDERS}`;
    await using files = await workspace({ 'policies/orders.yaml': text });
    const signals =
      /^signals +deprecation, sunset +unless the upstream sends its own +policies\/orders\.yaml:1$/m;
    expect((await explain(files, 'GET /api/v1/orders', { as: 'acme' })).text).toMatch(signals);
    for (const other of ['GET /api/v2/orders', 'GET /api/v3/orders'])
      expect((await explain(files, other, { as: 'acme' })).text).not.toMatch(/^signals/m);
  });

  it.each([
    ['in the path', ORDERS, 'GET /api/v1/orders', [], 10],
    ['in a header', ORDERS, 'GET /api/orders', ['API-Version: 1'], 10],
    ['by a day after it', FLOOR, 'GET /api/orders', ['API-Version: 2026-02-01'], 6],
    ['whose date is that of its API', SHARED, 'GET /api/v1/orders', [], 3],
  ])(
    'STAT-1: what is forgotten is unknown by the line with its date: a version %s',
    async (_how, text, request, headers, line) => {
      await using files = await workspace({
        'policies/orders.yaml': text.replace('sunset: 2027-01-15', '$&, forgotten: 2028-01-15'),
      });
      const refusedAt = async (now: number) =>
        /^refused .*/m.exec((await explain(files, request, { headers, now })).text)?.[0].split(/ {2,}/);
      expect(await refusedAt(Date.UTC(2028, 0, 15))).toEqual([
        'refused',
        'version_unknown',
        expect.stringMatching(/^(v1|2026-01-01) forgotten since 2028-01-15$/),
        `policies/orders.yaml:${line}`,
      ]);
      expect((await refusedAt(Date.UTC(2028, 0, 15) - 1))?.[1]).toBe('version_retired');
    },
  );

  it('STAT-1: a version that never was is unknown at the carrier', async () => {
    await using files = await workspace(policies);
    const { text } = await explain(files, 'GET /api/v9/orders');
    expect(text).toMatch(/^refused +version_unknown +policies\/orders\.yaml:3$/m);
  });

  it('prints a refusal with its body, and ends with 0', async () => {
    await using files = await workspace(policies);
    const { exitCode, text } = await explain(files, 'GET /api/v1/orders', { now: Date.UTC(2027, 0, 15) });
    expect(exitCode).toBe(0);
    expect(text).toContain('refused   version_retired  ');
    expect(text).toMatch(/^refused .* policies\/orders\.yaml:10$/m);
    expect(text).toContain('answer    410 Gone\n');
    expect(text).toContain('"message":"API version v1 was retired on 2027-01-15."');
    expect(text).not.toContain('next');
  });

  it('SUN-2: knows of a pause what it is told, and says what it took to be so otherwise', async () => {
    await using files = await workspace(policies);
    const now = Date.UTC(2027, 0, 16);
    const request = 'GET /api/v1/orders';
    const refused = await explain(files, request, { now });
    expect(refused.text).toMatch(/^stage +retired .* \(assumed: no pause\)/m);
    const { exitCode, text } = await explain(files, request, {
      now,
      paused: Date.UTC(2027, 0, 20),
      as: 'acme',
    });
    expect(exitCode).toBe(0);
    expect(text).toMatch(
      /^stage +deprecated +deprecated since 2026-01-15, sunset 2027-01-20, in 4 days +policies/m,
    );
    expect(text).toMatch(/^paused +until 2027-01-20 +brownouts and retirement are on hold$/m);
    expect(text).toContain('  sunset: Wed, 20 Jan 2027 00:00:00 GMT\n');
    expect(text).toContain('next      2027-01-20            v1 retired: 410 Gone, version_retired\n');
    expect((await explain(files, request, { now: now - 2 * 86_400_000 })).text).not.toContain('pause');
  });

  it('names the exception that spares a consumer, and whom a brownout of a share is for', async () => {
    const window = 'from: 2026-11-20, for: 1d, announced: 2026-11-01';
    const leave = 'consumer: acme, until: 2027-01-10, from: [brownouts, limits], why: contract, by: api-team';
    const rowsOf = async (share: string, options: Partial<ExplainOptions>) => {
      await using files = await workspace({
        'policies/orders.yaml': ORDERS.replace(
          'status: https',
          `brownouts: [{ ${window}${share} }], exceptions: [{ ${leave} }], status: https`,
        ),
      });
      const { text } = await explain(files, 'GET /api/v1/orders', options);
      return text.split('\n').filter((line) => /^(brownout|exception|limit|forward|refused)/.test(line));
    };
    const now = expect.stringMatching(/^brownout +now +2026-11-20 to 2026-11-21 +policies/);
    expect(await rowsOf('', { as: 'acme' })).toEqual([
      now,
      expect.stringMatching(
        /^exception +brownouts, limits +acme has leave until 2027-01-10: contract +policies\/orders.yaml:10$/,
      ),
      expect.stringMatching(/^limit +600 per 1m/),
      expect.stringMatching(/^forward/),
    ]);
    expect(await rowsOf('', { as: 'globex' })).toEqual([now, expect.stringMatching(/^refused +brownout/)]);
    expect(await rowsOf('', { as: 'acme', now: Date.UTC(2027, 0, 10) })).toEqual([
      expect.stringMatching(/^limit +300 per 1m/),
      expect.stringMatching(/^forward/),
    ]);
    expect((await rowsOf(', percentage: 1%', { as: 'globex' }))[0]).toContain(
      'for 1% of consumers, globex is not among them ',
    );
    expect((await rowsOf(', percentage: 99%', { as: 'globex' }))[0]).toContain('globex is among them ');
    expect((await rowsOf(', percentage: 99%', { as: 'acme' }))[0]).toContain('for 99% of consumers  ');
  });

  it('a pause that is over by then is wrong usage', async () => {
    await using files = await workspace(policies);
    expect(await explain(files, 'GET /api/v1/orders', { paused: NOW })).toEqual({
      exitCode: 2,
      text: 'sundial: --paused must be later than the instant the request is judged at\n',
    });
  });

  it('speaks JSON to machines, with the same decisions', async () => {
    await using files = await workspace(policies);
    const { text } = await explain(files, 'POST /api/orders', {
      as: 'acme',
      scopes: [],
      headers: ['API-Version: v2'],
      format: 'json',
    });
    expect(JSON.parse(text)).toMatchObject({
      request: { method: 'POST', url: 'https://api.example.com/api/orders' },
      at: '2026-11-20T00:00:00Z',
      decisions: [
        {
          step: 'api',
          value: 'orders',
          detail: '/api/orders, active',
          origin: { file: 'policies/orders.yaml', line: 2 },
        },
        { step: 'version', value: 'v2', detail: 'from the header', origin: { line: 3, column: 47 } },
        { step: 'stage', value: 'active' },
        { step: 'identity', value: 'acme' },
        { step: 'size', assumed: 'its body is no longer' },
        { step: 'limit', value: '600 per 1m' },
        { step: 'forward', value: 'orders-v2' },
      ],
      answer: { kind: 'forwarded', upstream: 'orders-v2', target: '/api/orders' },
      next: [
        {
          at: '2027-01-15T00:00:00Z',
          version: 'v2',
          stage: 'active',
          signals: ['no longer links v1 as predecessor'],
        },
      ],
    });
  });

  it('says what it assumes: scopes that were passed are not, those that were not are', async () => {
    await using files = await workspace(policies);
    const passed = await explain(files, 'GET /api/v2/orders', { as: 'acme', scopes: ['orders:read'] });
    expect(passed.text).toMatch(/^identity {2}acme +main +policies/m);
    const lacking = await explain(files, 'GET /api/v2/orders', { as: 'acme', scopes: [] });
    expect(lacking.text).toContain('answer    403 Forbidden');
    const headers = ['Authorization: Bearer something'];
    const token = await explain(files, 'GET /api/v2/orders', { headers });
    expect(token.text).toContain('(assumed: the access token is in order, it has the scopes)');
    const nobody = await explain(files, 'GET /api/v2/orders');
    expect(nobody.text).toMatch(/^refused +credentials_missing +policies\/orders\.yaml:4$/m);
  });

  it.each([
    ['TRACE /api/v2/orders', 'method_unknown', 501],
    ['GET /api/../orders', 'request_malformed', 400],
    ['GET https://other.example.com/api/v2/orders', 'host_unknown', 421],
    ['GET /nowhere', 'route_unknown', 404],
    ['/api/v2/orders/%2e%2e', 'request_malformed', 400],
  ])('refuses as a listener would: %s', async (request, reason, status) => {
    await using files = await workspace(policies);
    const { exitCode, text } = await explain(files, request, { format: 'json' });
    expect(exitCode).toBe(0);
    expect(JSON.parse(text).answer).toMatchObject({ reason, status });
  });

  it.each(['GET api/v1/orders', 'api/v1/orders', 'GET ftp://api.example.com/x'])(
    'what is neither a path nor a URL is wrong usage: %s',
    async (request) => {
      await using files = await workspace(policies);
      expect(await explain(files, request)).toEqual({
        exitCode: 2,
        text: 'sundial: Write a method and a path, such as GET /api/v1/orders.\n',
      });
    },
  );

  it('VER-7: judges the path as the gateway does, once it is normalised', async () => {
    await using files = await workspace(policies);
    const { text } = await explain(files, 'GET /api/v2/orders/%7e%41', { as: 'acme', format: 'json' });
    expect(JSON.parse(text).answer).toMatchObject({ target: '/api/orders/~A' });
  });

  it('an operation that ends before its version is what it says to have ended', async () => {
    const early = ORDERS.replace(
      'successor: v2',
      'successor: v2, operations: { GET /old: { sunset: 2026-12-15 } }',
    );
    await using files = await workspace({ 'policies/orders.yaml': early });
    const { text } = await explain(files, 'GET /api/v1/orders/old', { as: 'acme' });
    expect(text).toContain(
      'next      2026-12-15            GET /old of v1 retired: 410 Gone, version_retired\n',
    );
  });

  it.each([
    ['sunset: 2026-11-01', 'its own sunset, also where its version retires later', 18],
    ['deprecated: 2025-11-01', 'the extension that its version ends by', 14],
  ])('an operation with %s names the line of %s', async (own, _line, line) => {
    await using files = await workspace({
      'policies/orders.yaml': ORDERS.replace(
        / {2}v1: \{ released.*\n/,
        `  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2026-07-15${own.startsWith('sunset') ? '\n    retired: 2027-01-15' : ''}
    extended: [{ to: 2026-11-10, announced: 2026-01-20, why: late }]
    operations:
      GET /old:
        ${own}
`,
      ),
    });
    const { text } = await explain(files, 'GET /api/v1/orders/old', { as: 'acme' });
    expect(text).toMatch(new RegExp(`^stage .*policies/orders.yaml:${line}$`, 'm'));
  });

  it('a day before today is explained with the files as they are today', async () => {
    const gone = ORDERS.replace('  v1: { targets: [http://127.0.0.1:4001] }\n', '').replace(
      '2027-01-15',
      '2026-06-01',
    );
    await using files = await workspace({ 'policies/orders.yaml': gone });
    const { exitCode, text } = await explain(files, 'GET /api/v1/orders', {
      as: 'acme',
      now: Date.UTC(2026, 4, 1),
    });
    expect(exitCode).toBe(0);
    expect(text).toMatch(
      /^stage +retired +no upstream is left, deprecated since 2026-01-15, sunset 2026-06-01,/m,
    );
    expect(text).toContain('answer    410 Gone\n');
    expect(text).toContain('  sunset: Mon, 01 Jun 2026 00:00:00 GMT\n');
    expect(text).toContain('was retired on 2026-06-01');
    expect(text).not.toContain('warning:');
    expect(text).not.toContain('next ');
  });

  it.each([
    ['', []],
    ['GET', []],
    ['DELETE ', []],
    ['OPTIONS *', []],
    ['OPTIONS /api/v1/orders', ['Max-Forwards: 0']],
    ['GET /api /orders', []],
    ['GET /api/orders', ['API-Version']],
    ['GET /api/orders', [': v1']],
  ])('ends with 2 for what is no request: %j %j', async (request, headers) => {
    await using files = await workspace(policies);
    const { exitCode, text } = await explain(files, request, { headers });
    expect(exitCode).toBe(2);
    expect(text).toMatch(/^sundial: .+\n$/);
  });

  it('prints the problems of files that make no plan', async () => {
    await using files = await workspace({
      'policies/orders.yaml': ORDERS.replace('default: v2', 'default: v3'),
    });
    const { exitCode, text } = await explain(files, 'GET /api/v1/orders');
    expect(exitCode).toBe(1);
    expect(text).toContain('no version is called "v3"');
  });
});
