// Compares whole gateways on the fast and on the general plane, with the same octets in two pieces.
import { env } from 'node:process';
import { expect, it } from 'vitest';
import { compareSlice, missedBy } from '../../differential/compare.ts';
import { FUZZ_TIMEOUT_MS } from '../../support/fuzz.ts';

const CASES = 4_000;
const SEED = Number(env.DIFFERENTIAL_SEED ?? Math.floor(Math.random() * 2 ** 31));

it(`both planes respond, log and count alike: ${CASES} cases of seed ${SEED}`, {
  timeout: 4 * FUZZ_TIMEOUT_MS,
}, async () => {
  const slice = await compareSlice(SEED, CASES);
  expect(slice.differences.slice(0, 3), `seed ${SEED}: ${slice.differences.length} of ${slice.sent}`).toEqual(
    [],
  );
  expect(slice.sent).toBeGreaterThanOrEqual(CASES);
  expect(missedBy(slice)).toEqual([]);
});
