// Tests "did you mean" for every key of the grammars, truncated and misspelt.
import { describe, expect, it } from 'vitest';
import { suggest } from '../../gateway/plan/read/shape-issues.ts';
import { placesOf } from '../support/grammar-places.ts';
import { ORDERS, workspace } from './workspace.ts';

const KEYS: readonly (readonly string[])[] = (['policy', 'gateway'] as const).flatMap((kind) =>
  placesOf(kind).flatMap(({ schema }) =>
    typeof schema.properties === 'object' && schema.properties !== null
      ? [Object.keys(schema.properties)]
      : [],
  ),
);

describe('a truncated key', () => {
  it('is completed rather than corrected to a shorter one', () => {
    const wrong: string[] = [];
    for (const keys of KEYS)
      for (const key of keys)
        for (let length = 3; length < key.length; length += 1) {
          const begun = key.slice(0, length);
          if (keys.includes(begun)) continue;
          const said = suggest(begun, keys);
          if (said === undefined || !said.startsWith(`did you mean "${begun}`))
            wrong.push(`${begun}: ${said}`);
        }
    expect(KEYS.flat().length).toBeGreaterThan(300);
    expect(wrong).toEqual([]);
  });

  it('vers is completed to versions, not corrected to cors', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS.replace('versions:', 'vers:') });
    expect(await files.problems()).toContainEqual(
      expect.stringContaining('unknown key "vers" (did you mean "versions"?)'),
    );
  });
});

it('a key with a missing or doubled letter is found', () => {
  const wrong: string[] = [];
  for (const keys of KEYS)
    for (const key of keys.filter((each) => each.length > 4))
      for (let at = 1; at < key.length; at += 1)
        for (const slip of [key.slice(0, at) + key.slice(at + 1), key.slice(0, at) + key.slice(at - 1)]) {
          const said = suggest(slip, keys);
          if (!keys.includes(slip) && said === undefined) wrong.push(slip);
        }
  expect(wrong).toEqual([]);
});
