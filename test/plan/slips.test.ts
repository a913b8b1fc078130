// Tests single mistakes in otherwise valid files. The rows are in slips/; «…» is the marked text.
import { describe, expect, it } from 'vitest';
import { CARRIERS } from './slips/carriers.ts';
import { COSTS } from './slips/costs.ts';
import { DATES } from './slips/dates.ts';
import { GATEWAY_FILE } from './slips/gateway-file.ts';
import { LIMITS } from './slips/limits.ts';
import { NAMES } from './slips/names.ts';
import { UPSTREAMS } from './slips/upstreams.ts';
import { GATEWAY, ORDERS, workspace } from './workspace.ts';

describe('a policy file is refused for', () => {
  it.each([...NAMES, ...DATES, ...CARRIERS, ...UPSTREAMS, ...LIMITS, ...COSTS])(
    '%s',
    async (_name, from, to, expected) => {
      await using files = await workspace({ 'policies/orders.yaml': ORDERS.replace(from, to) });
      expect(await files.problems()).toContainEqual(at('policies/orders.yaml', expected));
    },
  );
});

describe('the gateway file is refused for', () => {
  it.each(GATEWAY_FILE)('%s', async (_name, from, to, expected) => {
    await using files = await workspace({
      'config/gateway.yaml': GATEWAY.replace(from, to),
      'policies/orders.yaml': ORDERS,
    });
    expect(await files.problems()).toContainEqual(at('config/gateway.yaml', expected));
  });
});

function at(file: string, expected: unknown): unknown {
  return typeof expected === 'string' ? `${file}:${expected}` : expected;
}
