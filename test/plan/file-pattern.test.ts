// Tests the limit on alternatives in the `policies` pattern, which is checked before any search.
import { describe, expect, it } from 'vitest';
import { alternativesIn } from '../../gateway/plan/read/file-pattern.ts';
import { threadMs } from '../support/thread-time.ts';
import { GATEWAY, ORDERS, workspace } from './workspace.ts';

describe('alternatives of a pattern', () => {
  it.each([
    ['../policies/*.yaml', 1],
    ['../{policies,more}/*.{yaml,yml}', 4],
    ['{a,b,c}', 3],
    ['{a}', 1],
    ['{a,{b,c}}', 4],
    ['{1..9}', 9],
    ['{-2..2}{a..e}', 25],
    ['{1..9..2}', 9],
    ['{../a,../b}', 2],
    ['\\{a,b}', 1],
    ['}{a,b', 1],
    ['{1..99999999999}', Number.POSITIVE_INFINITY],
  ])('%s: %d', (pattern, count) => expect(alternativesIn(pattern)).toBe(count));
});

describe('a pattern of the gateway file', () => {
  const withPattern = async (pattern: string) => {
    await using files = await workspace({
      'config/gateway.yaml': GATEWAY.replace('../policies/*.yaml', pattern),
      'policies/orders.yaml': ORDERS,
    });
    return await files.problems();
  };

  it('may have a few alternatives', async () => {
    expect(await withPattern('../{policies,more}/{orders,payments}.{yaml,yml}')).toEqual([]);
  });

  it.each([`../policies/${'{a,b}'.repeat(25)}.yaml`, '../policies/{1..100000}.yaml'])(
    '%s is refused immediately, with the reason',
    async (pattern) => {
      const begun = threadMs();
      const problems = await withPattern(pattern);
      expect(threadMs() - begun).toBeLessThan(4_000);
      expect(problems).toEqual([
        expect.stringMatching(
          /^config\/gateway\.yaml:4 «.*» error: the braces expand to more than 100 names: use \* instead/,
        ),
      ]);
    },
  );
});
