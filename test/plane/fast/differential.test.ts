// The general plane as the judge of the fast one: whole gateways get the same octets, from the client and from the upstream,
// each cut in two. Equal are what the upstream saw, what the client got, access lines, metrics, the ledger and the limits.
// `npm run test:differential` does the same with as many cases as wanted; differential/own-ways.ts says what may differ.
import { env } from 'node:process';
import { expect, it } from 'vitest';
import { compareSlice } from '../../differential/compare.ts';
import { FUZZ_TIMEOUT_MS } from '../../support/fuzz.ts';

const CASES = 20_000;
const SEED = Number(env.DIFFERENTIAL_SEED ?? Math.floor(Math.random() * 2 ** 31));

it(`no plane answers, logs or counts otherwise: ${CASES} cases of seed ${SEED}`, {
  timeout: 10 * FUZZ_TIMEOUT_MS,
}, async () => {
  const { sent, differences, carried, statuses, ledger } = await compareSlice(SEED, CASES);
  expect(differences.slice(0, 3), `seed ${SEED}: ${differences.length} of ${sent}`).toEqual([]);
  // The cases come as far as they are meant to.
  expect(sent).toBeGreaterThanOrEqual(CASES);
  expect(carried.get('plane="fast",reason="usual"')).toBeGreaterThan(CASES / 2);
  const expected = [
    '200',
    '204',
    '304',
    '400',
    '401',
    '403',
    '404',
    '410',
    '417',
    '429',
    '501',
    '502',
    '503',
  ];
  expect([...statuses]).toEqual(expect.arrayContaining(expected));
  const { consumers } = ledger as { readonly consumers: readonly unknown[] };
  expect(consumers.length).toBeGreaterThan(10);
});
