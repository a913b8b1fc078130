// Measures functions of this process: nanoseconds per call, minimum and median of the rounds.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { median } from './report.ts';

export interface Stage {
  /** With two leading blanks for a part of the stage above. */
  readonly name: string;
  /** Nanoseconds for so many calls. */
  readonly time: (calls: number) => Promise<number>;
}

/** `prepare` makes the input of one call and is not measured. */
export function stage<Input = undefined>(
  name: string,
  run: (input: Input) => unknown,
  prepare?: () => Input,
): Stage {
  return {
    name,
    time: async (calls) => {
      const inputs = Array.from({ length: calls }, () => prepare?.() as Input);
      const startedAt = process.hrtime.bigint();
      for (const input of inputs) {
        const result = run(input);
        if (result instanceof Promise) await result;
      }
      return Number(process.hrtime.bigint() - startedAt);
    },
  };
}

/** The event loop runs between two batches, so that promises and writes do not accumulate. */
const BATCH = 100;

/** One line for each stage, and their sum. */
export async function pricesOf(stages: readonly Stage[], quick: boolean): Promise<readonly string[]> {
  const [rounds, batches] = quick ? [2, 20] : [10, 100];
  const found = stages.map(({ name }) => ({ name, prices: [] as number[] }));
  // The first round compiles the code.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, { time }] of stages.entries()) {
      let nanos = 0;
      for (let batch = 0; batch < batches; batch += 1) {
        nanos += await time(BATCH);
        await nextTurn();
      }
      if (round > 0) found[at]?.prices.push(nanos / (batches * BATCH));
    }
  }
  const row = (name: string, best: number, middle: number): string =>
    `  ${name.padEnd(30)}${best.toFixed(0).padStart(8)}${middle.toFixed(0).padStart(8)}`;
  const whole = found.filter(({ name }) => !name.startsWith(' '));
  const sum = (of: (prices: readonly number[]) => number): number =>
    whole.reduce((all, { prices }) => all + of(prices), 0);
  const best = (prices: readonly number[]): number => Math.min(...prices);
  return [
    `Nanoseconds per call in process, ${rounds} rounds of ${batches * BATCH} calls${quick ? ', a smoke test' : ''}`,
    `  ${'stage (indented: a part of it)'.padEnd(30)}${'best'.padStart(8)}${'median'.padStart(8)}`,
    ...found.map(({ name, prices }) => row(name, best(prices), median(prices))),
    row('all stages', sum(best), sum(median)),
  ];
}
