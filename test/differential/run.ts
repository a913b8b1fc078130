// `npm run test:differential`: compares the planes. Exit code 1: different or too late, 2: wrong usage.
import { parseArgs } from 'node:util';
import { compareSlice, type Difference, missedBy } from './compare.ts';
import { compareEveryByte } from './every-byte.ts';

const USAGE = `npm run test:differential -- [options]
  --cases N   drawn cases (default 1000000)
  --seed S    what they are drawn from (default: another one each time)`;
const LONGEST_RUN_MS = 3_600_000;
/** Cases. Each slice has its own gateways, consumers and limits. */
const SLICE = 20_000;
const SHOWN = 5;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function readOptions(args: readonly string[]): { readonly cases: number; readonly seed: number } {
  const { values } = parseArgs({
    args: [...args],
    options: { cases: { type: 'string', default: '1000000' }, seed: { type: 'string' } },
  });
  const cases = Number(values.cases);
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  if (!Number.isInteger(cases) || cases < 0) throw new Error('--cases is a whole number');
  if (!Number.isInteger(seed) || seed < 0) throw new Error('--seed is a whole number');
  return { cases, seed };
}

function show(differences: readonly Difference[]): void {
  for (const each of differences.slice(0, SHOWN)) say(JSON.stringify(each));
  if (differences.length > SHOWN) say(`and ${differences.length - SHOWN} more`);
}

async function run({ cases, seed }: ReturnType<typeof readOptions>): Promise<number> {
  say(`seed ${seed}`);
  const began = performance.now();
  const seconds = (): string => `${((performance.now() - began) / 1_000).toFixed(0)} s`;
  const fixed = await compareEveryByte();
  show(fixed.differences);
  say(`${fixed.sent} splits of fixed cases, ${fixed.differences.length} differences, ${seconds()}`);
  let different = fixed.differences.length;
  for (let done = 0; done < cases; ) {
    // Far apart, because a slice also uses the seeds after its own.
    const slice = await compareSlice(seed + done, Math.min(SLICE, cases - done));
    done += Math.min(SLICE, cases - done);
    show(slice.differences);
    const missed = missedBy(slice);
    if (missed.length > 0) say(`not reached: ${missed.join(', ')}`);
    different += slice.differences.length + missed.length;
    say(`${done} of ${cases} drawn cases, ${different} differences, ${seconds()}`);
  }
  return different;
}

let options: ReturnType<typeof readOptions>;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`);
  process.exit(2);
}
setTimeout(() => {
  process.stderr.write(`not finished after ${LONGEST_RUN_MS / 1_000} s\n`);
  process.exit(1);
}, LONGEST_RUN_MS).unref();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.exitCode = (await run(options)) === 0 ? 0 : 1;
