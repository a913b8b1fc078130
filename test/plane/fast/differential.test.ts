// The general plane as the judge of the fast one: whole gateways get the same octets, from the client and from the upstream,
// each cut in two. Equal are what the upstream saw, what the client got, access lines, metrics, the ledger and the limits.
// `npm run test:differential` compares more; differential/own-ways.ts says what may differ.
import { env } from 'node:process';
import { expect, it } from 'vitest';
import { compareSlice, missedBy } from '../../differential/compare.ts';
import { FUZZ_TIMEOUT_MS } from '../../support/fuzz.ts';

const CASES = 4_000;
const SEED = Number(env.DIFFERENTIAL_SEED ?? Math.floor(Math.random() * 2 ** 31));

it(`no plane answers, logs or counts otherwise: ${CASES} cases of seed ${SEED}`, {
  timeout: 4 * FUZZ_TIMEOUT_MS,
}, async () => {
  const slice = await compareSlice(SEED, CASES);
  expect(slice.differences.slice(0, 3), `seed ${SEED}: ${slice.differences.length} of ${slice.sent}`).toEqual(
    [],
  );
  expect(slice.sent).toBeGreaterThanOrEqual(CASES);
  expect(missedBy(slice)).toEqual([]);
});
