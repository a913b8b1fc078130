// Tests of ledger pages that are read in pieces from a slow store.
import { expect, it } from 'vitest';
import type { UsagePlace } from '../../gateway/policy/usage/ledger.ts';
import { readPage } from '../../gateway/stores/usage-text.ts';

const place = (index: number): UsagePlace => ['orders', 'v1', `c${index}`, 'token', ''];

it.each([
  ['a fast store returns the whole page', 1, 10],
  ['a slow store ends the page with the first piece after a second', 400, 3],
  ['a very slow store returns at least one piece', 5_000, 1],
])('%s', async (_what, pieceMs, count) => {
  let monotonic = 0;
  let index = 0;
  const piece = async () => {
    monotonic += pieceMs;
    index += 1;
    return { records: [index], last: place(index) };
  };
  const page = await readPage(piece, { after: undefined, limit: 10 }, 1, () => monotonic);
  expect(page.records).toHaveLength(count);
  expect(page.next).toBe(JSON.stringify(place(count)));
});
