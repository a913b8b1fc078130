// Tests single mistakes in otherwise valid files. The rows are in mistakes/; «…» is the marked text.
import { describe, expect, it } from 'vitest';
import { CARRIERS } from './mistakes/carriers.ts';
import { COSTS } from './mistakes/costs.ts';
import { DATES } from './mistakes/dates.ts';
import { GATEWAY_FILE } from './mistakes/gateway-file.ts';
import { LIMITS } from './mistakes/limits.ts';
import { NAMES } from './mistakes/names.ts';
import { UPSTREAMS } from './mistakes/upstreams.ts';
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
