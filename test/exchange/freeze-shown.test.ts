// How explain, the timeline, expectations and check show a frozen version.
import { describe, expect, it } from 'vitest';
import type { ExplainOptions } from '../../gateway/cli/explain/explain.ts';
import { workspace } from '../plan/workspace.ts';
import { explain, timeline } from '../support/file-commands.ts';
import { POLICY } from './frozen-orders.ts';

describe('a frozen version', () => {
  const policies = { 'policies/orders.yaml': POLICY };

  it.each<[string, Partial<ExplainOptions>, string]>([
    ['assumes that a consumer was seen before', {}, 'since 2026-06-01  (assumed: seen before)'],
    [
      'refuses a consumer that was first seen later',
      { account: { firstSeen: Date.UTC(2026, 6, 1) } },
      'acme was first seen 2026-07-01',
    ],
    ['names an exception', { as: 'partner' }, 'partner has an exception'],
    [
      'names a freeze in the future',
      { now: Date.UTC(2026, 4, 1) },
      'from 2026-06-01  new consumers are refused',
    ],
  ])('explain %s', async (_title, options, expected) => {
    await using files = await workspace(policies);
    const { text } = await explain(files, 'GET /api/v1/orders/7', { as: 'acme', ...options });
    const line = text.split('\n').find((each) => each.startsWith('freeze '));
    expect(line).toContain(expected);
    const refused = /^refused +adoption_frozen .*policies\/orders\.yaml:13$/m.test(text);
    expect(refused).toBe(options.account !== undefined);
  });

  it('is marked in the timeline', async () => {
    await using files = await workspace(policies);
    const { text } = await timeline(files);
    expect(text).toMatch(/v1 .*▒┊▒/);
    expect(text.replace(/\s+/g, ' ')).toContain('closed to new consumers since 2026-06-01');
    expect(text).toContain('┊ closed to new consumers');
  });

  it('is refused in an expectation with a later first_seen', async () => {
    const expect_ = (day: string) =>
      `${POLICY}expect: [ { request: GET /api/v1/orders, as: acme, first_seen: ${day}, at: 2026-11-20, status: 403 } ]\n`;
    await using late = await workspace({ 'policies/orders.yaml': expect_('2026-06-01') });
    await using early = await workspace({ 'policies/orders.yaml': expect_('2026-05-31') });
    const { failedExpectations } = await import('../../gateway/cli/expectations.ts');
    expect(await failedExpectations(await late.load())).toEqual([]);
    expect(await failedExpectations(await early.load())).toMatchObject([{ rule: 'expect' }]);
  });
});

describe('check finds', () => {
  it.each<[title: string, from: string, to: string, expected: string]>([
    [
      'a freeze of a public API',
      'access: { identity: main, scopes: { read: [orders:read] } }',
      'access: public',
      'error freeze: a public API identifies no consumers, so freeze has no effect',
    ],
    [
      'a freeze of a version that is not deprecated',
      '    deprecated: 2026-01-15\n',
      '',
      'error freeze: freeze needs deprecated: only a deprecated version can be frozen',
    ],
    [
      'a freeze before the deprecation',
      'freeze: 2026-06-01',
      'freeze: 2026-01-14',
      'error freeze: freeze (2026-01-14) is before deprecated (2026-01-15)',
    ],
    [
      'a freeze on the day of the sunset',
      'freeze: 2026-06-01',
      'freeze: 2027-01-15',
      'error freeze: freeze (2027-01-15) is not before the sunset (2027-01-15), so the freeze has no effect',
    ],
    [
      'a freeze without a successor',
      '    successor: v2\n',
      '',
      'warning freeze: v1 is frozen without a successor: refused consumers get no alternative',
    ],
    [
      'an exception without a freeze',
      '    freeze: 2026-06-01\n',
      '',
      'error exception: v1 has no freeze, so an exception from freeze has no effect',
    ],
    [
      'an exception that ends before the freeze',
      'until: 2026-12-01',
      'until: 2026-06-01',
      'error exception: until (2026-06-01) is not after the freeze (2026-06-01), so the exception has no effect',
    ],
    [
      'a freeze of the API that no version inherits',
      'v2: { released: 2025-01-01 }\n',
      'v2: { released: 2025-01-01, freeze: off }\nfreeze: 2026-07-01\n',
      'warning taken-over: freeze has no effect: every version has freeze or deprecated or sunset of its own',
    ],
  ])('%s', async (_title, from, to, expected) => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY.replace(from, to) });
    const { problems } = await files.load();
    expect(problems.map(({ severity, rule, message }) => `${severity} ${rule}: ${message}`)).toContain(
      expected,
    );
  });
});
