// Fixed requests and answers, split at every octet: the fast plane does with each split what the general plane does.
import { expect, it } from 'vitest';
import { compareEveryByte, FIXED_CASES } from '../../differential/every-byte.ts';
import { FUZZ_TIMEOUT_MS } from '../../support/fuzz.ts';

it('FWD-5, SMG-1 to SMG-25: wherever a case is split, both planes do the same', {
  timeout: 2 * FUZZ_TIMEOUT_MS,
}, async () => {
  expect(FIXED_CASES.length).toBeGreaterThanOrEqual(200);
  const { sent, differences } = await compareEveryByte('whole');
  expect(differences.slice(0, 3), `${differences.length} of ${sent}`).toEqual([]);
  expect(sent).toBeGreaterThan(10_000);
});
