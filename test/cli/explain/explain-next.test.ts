// `sundial explain`: what changes next, in the response and its headers.
import { describe, expect, it } from 'vitest';
import type { ExplainOptions } from '../../../gateway/cli/explain/explain.ts';
import { workspace } from '../../plan/workspace.ts';
import { explain } from '../../support/file-commands.ts';
import { ORDERS } from './explained-orders.ts';

describe('the next changes', () => {
  it('include the end of the operation that a redirect leads to', async () => {
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

describe('the next changes with dates as versions', () => {
  it('VER-5: a future day is accepted from its first instant on', async () => {
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

describe('the next changes of the headers', () => {
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

  it('LNK-2: the link to an ended successor is replaced by a link to its own successor', async () => {
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

  it('each limit and the cost of the request have a row with their line', async () => {
    const several = ORDERS.replace(
      'limits: { rate: 600/1m, deprecated: 50% }',
      'limits:\n  - { rate: 600/1m, deprecated: 50% }\n  - { name: all, rate: 9000/1m, by: everyone, shadow: true }',
    ).replace(
      'v2: { released: 2026-01-15 }',
      'v2:\n    released: 2026-01-15\n    limits: [ { name: login, rate: 5/1m, by: address, algorithm: sliding-log } ]\n    operations: { GET /search: { cost: 3 } }',
    );
    await using files = await workspace({ 'policies/orders.yaml': several });
    const { text } = await explain(files, 'GET /api/v2/orders/search', { as: 'acme' });
    const rows = text.split('\n').filter((line) => /^(limit|cost) /.test(line));
    expect(
      rows.map((line) => line.replace(/ {2,}/g, ' ').replace(' (assumed: nothing counted yet)', '')),
    ).toEqual([
      'limit 600 per 1m limit default, by consumer policies/orders.yaml:6',
      'limit 5 per 1m limit login, by address, in any window policies/orders.yaml:15',
      'limit 9000 per 1m limit all, by everyone, only counted: shadow policies/orders.yaml:7',
      'cost 3 units of each limit policies/orders.yaml:16',
    ]);
  });

  it('RL-11: a changed limit is listed, and a falling curve once', async () => {
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
    // Steps of the curve are not listed as changes.
    const stepping = curve
      .replace('v2: { released: 2026-01-15', 'v2: { released: 2026-12-28')
      .replace('default: v2', 'default: v1');
    expect(await nextOf(stepping, 'GET /api/v1/orders', { as: 'other' })).toEqual([
      '2026-12-28 v1 deprecated: forwarded, links v2 as successor',
      '2027-01-15 v1 retired: 410 Gone, version_retired',
    ]);
  });
});
