// Draws the input of a test, `FUZZ_TIMES` as much as it asks for: half from a fixed seed, half from another one in each run.
import { env } from 'node:process';
import fc from 'fast-check';

const FIXED_SEED = 20_261_120;
const TIMES = Number(env.FUZZ_TIMES ?? 1);
/** Milliseconds. */
export const FUZZ_TIMEOUT_MS = 60_000 * TIMES;

/** Half of `runs` on the fixed seed, half on one that changes. */
export async function fuzz<Drawn>(property: fc.IRawProperty<Drawn>, runs: number): Promise<void> {
  const numRuns = Math.ceil((runs * TIMES) / 2);
  await fc.assert(property, { numRuns, seed: FIXED_SEED });
  await fc.assert(property, { numRuns });
}

/** The same as plain values, for what is tried side by side; `seed` is the one of the draws that change. */
export function samples<Drawn>(
  arbitrary: fc.Arbitrary<Drawn>,
  count: number,
): { readonly seed: number; readonly drawn: readonly Drawn[] } {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const numRuns = Math.ceil((count * TIMES) / 2);
  const drawn = [FIXED_SEED, seed].flatMap((each) => fc.sample(arbitrary, { numRuns, seed: each }));
  return { seed, drawn };
}
