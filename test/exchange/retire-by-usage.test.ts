// How explain, the timeline, diff and check show a retirement by usage.
import { describe, expect, it } from 'vitest';
import { GATEWAY, NOW, workspace } from '../plan/workspace.ts';
import { diff, explain, timeline } from '../support/file-commands.ts';
import { POLICY } from './frozen-orders.ts';

describe('a retirement by usage', () => {
  const RULE = '    retire_when: { consumers_below: 1, calls_below: 100/30d, on_exceed: hold }\n';
  const policy = POLICY.replace('    successor: v2\n', `    successor: v2\n${RULE}`);

  it('is shown by explain and the timeline until the sunset', async () => {
    await using files = await workspace({ 'policies/orders.yaml': policy });
    const lineAt = async (now: number) => {
      const { text } = await explain(files, 'GET /api/v1/orders/7', { as: 'acme', now });
      return text.split('\n').find((each) => each.startsWith('retires '));
    };
    expect(await lineAt(NOW)).toMatch(
      /^retires +below 1 consumer and 100 calls in 30 days +else the sunset is held, for 90 days at most +policies\/orders\.yaml:16$/,
    );
    expect(await lineAt(Date.UTC(2027, 0, 15))).toBeUndefined();
    const { text } = await timeline(files);
    expect(text.replace(/\s+/g, ' ')).toContain(
      'held for at most 90 days unless below 1 consumer and 100 calls in 30 days',
    );
  });

  it('is shown by diff in words, like a freeze', async () => {
    await using files = await workspace({
      'policies/orders.yaml': policy,
      'old/orders.yaml': POLICY.replace('2026-06-01', '2026-07-01'),
    });
    const { text } = await diff(files, { older: `${files.folder}/old`, newer: undefined });
    expect(text).toContain('orders v1: freeze 2026-07-01 -> 2026-06-01');
    expect(text).toContain(
      'orders v1: retirement below 1 consumer and 100 calls in 30 days, else held added',
    );
  });

  it.each<[title: string, from: string, to: string, expected: string, gateway?: string]>([
    [
      'without a sunset',
      '    sunset: 2027-01-15\n',
      '',
      'error retire-when: v1 has no sunset, so retire_when has no effect',
    ],
    [
      'without a deprecation',
      '    deprecated: 2026-01-15\n',
      '',
      'error retire-when: v1 is never deprecated, so its calls are not counted',
    ],
    [
      'in an API with `mode: observe`',
      'api: orders\n',
      'api: orders\nmode: observe\n',
      'warning retire-when: in observe mode no version ends, so hold has no effect',
    ],
    [
      'without a ledger',
      '',
      '',
      'warning ledger: retire_when has no effect while the ledger is off',
      'ledger: off\n',
    ],
    [
      'with a freeze, without a ledger',
      '',
      '',
      'warning ledger: freeze has no effect while the ledger is off',
      'ledger: off\n',
    ],
    [
      'over more days than the ledger keeps',
      '',
      '',
      'warning ledger: the ledger keeps 30 days including today, so it never has 30 whole days',
      'ledger: { keep: 30d }\n',
    ],
    [
      'with a freeze that lasts longer than the ledger keeps callers',
      '',
      '',
      'warning ledger: the freeze lasts 228 days, but the ledger keeps 227: consumers with a longer break are refused as new',
      'ledger: { keep: 227d }\n',
    ],
  ])('is reported by check %s', async (_title, from, to, expected, more = '') => {
    await using files = await workspace({
      'config/gateway.yaml': GATEWAY + more,
      'policies/orders.yaml': policy.replace(from, to),
    });
    const { problems } = await files.load();
    expect(problems.map(({ severity, rule, message }) => `${severity} ${rule}: ${message}`)).toContain(
      expected,
    );
  });
});
