// `sundial explain`: the output for a request, with the line behind each decision.
import { describe, expect, it } from 'vitest';
import type { ExplainOptions } from '../../../gateway/cli/explain/explain.ts';
import { workspace } from '../../plan/workspace.ts';
import { explain } from '../../support/file-commands.ts';
import { ORDERS, policies } from './explained-orders.ts';

describe('explain', () => {
  it('prints each decision with its policy line, the response headers and the next change', async () => {
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
  cache-control: private

next      2027-01-15            v1 retired: 410 Gone, version_retired
`,
    });
  });

  it('§1.5: prints the notice for the body, and its policy line', async () => {
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

  it('DEP-2: names the headers that the upstream may replace, and the policy line', async () => {
    const text = `upstream_wins: true\n${ORDERS}`;
    await using files = await workspace({ 'policies/orders.yaml': text });
    const signals =
      /^signals +deprecation, sunset +unless the upstream sends its own +policies\/orders\.yaml:1$/m;
    expect((await explain(files, 'GET /api/v1/orders', { as: 'acme' })).text).toMatch(signals);
    for (const other of ['GET /api/v2/orders', 'GET /api/v3/orders'])
      expect((await explain(files, other, { as: 'acme' })).text).not.toMatch(/^signals/m);
  });

  it.each([
    ['map', '/api/orders becomes /api/v1/orders in addresses of the service'],
    ['keep', 'addresses stay as the service writes them'],
    ['prefix', 'X-Forwarded-Prefix: /api/v1/orders'],
  ])('locations: %s is shown with its effect on the request', async (locations, detail) => {
    await using files = await workspace({ 'policies/orders.yaml': `locations: ${locations}\n${ORDERS}` });
    const { text } = await explain(files, 'GET /api/v1/orders', { as: 'acme' });
    expect(text).toMatch(new RegExp(`^locations +${locations} +${detail} +policies/orders\\.yaml:1$`, 'm'));
  });

  it('STAT-1: an undeclared version is refused at the line of the carrier', async () => {
    await using files = await workspace(policies);
    const { text } = await explain(files, 'GET /api/v9/orders');
    expect(text).toMatch(/^refused +version_unknown +policies\/orders\.yaml:3$/m);
  });

  it('prints a refusal with its body, and exits with 0', async () => {
    await using files = await workspace(policies);
    const { exitCode, text } = await explain(files, 'GET /api/v1/orders', { now: Date.UTC(2027, 0, 15) });
    expect(exitCode).toBe(0);
    expect(text).toContain('refused   version_retired  ');
    expect(text).toMatch(/^refused .* policies\/orders\.yaml:10$/m);
    expect(text).toContain('answer    410 Gone\n');
    expect(text).toContain('"message":"API version v1 was retired on 2027-01-15."');
    expect(text).not.toContain('next');
  });

  it('names the exception of a consumer, and whether a brownout share includes the consumer', async () => {
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
        /^exception +brownouts, limits +acme has an exception until 2027-01-10: contract +policies\/orders.yaml:10$/,
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

  it('prints the same decisions as JSON', async () => {
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

  it('states that it assumes scopes and tokens, except scopes that were passed', async () => {
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

  it('VER-7: normalises the path as the gateway does', async () => {
    await using files = await workspace(policies);
    const { text } = await explain(files, 'GET /api/v2/orders/%7e%41', { as: 'acme', format: 'json' });
    expect(JSON.parse(text).answer).toMatchObject({ target: '/api/orders/~A' });
  });
});
