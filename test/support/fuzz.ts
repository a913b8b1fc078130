// Runs properties, half of the cases from a fixed seed and half from a new one. `FUZZ_TIMES` multiplies them.
import { env } from 'node:process';
import fc from 'fast-check';

const FIXED_SEED = 20_261_120;
const TIMES = Number(env.FUZZ_TIMES ?? 1);
export const FUZZ_TIMEOUT_MS = 60_000 * TIMES;

export async function fuzz<Drawn>(property: fc.IRawProperty<Drawn>, runs: number): Promise<void> {
  const numRuns = Math.ceil((runs * TIMES) / 2);
  await fc.assert(property, { numRuns, seed: FIXED_SEED });
  await fc.assert(property, { numRuns });
}

/** Draws values, half from the fixed seed and half from the new `seed`. */
export function samples<Drawn>(
  arbitrary: fc.Arbitrary<Drawn>,
  count: number,
): { readonly seed: number; readonly drawn: readonly Drawn[] } {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const numRuns = Math.ceil((count * TIMES) / 2);
  const drawn = [FIXED_SEED, seed].flatMap((each) => fc.sample(arbitrary, { numRuns, seed: each }));
  return { seed, drawn };
}
