// Asks whoever sits at the terminal whether something is meant that cannot be undone.
// Given to the commands by main.ts, where there is a terminal.
import { createInterface } from 'node:readline/promises';

/** True for `y` and `yes` alone; the end of input is a no. The question goes to stderr, so that stdout stays the answer. */
export async function askOnTerminal(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const { promise: closed, resolve: close } = Promise.withResolvers<string>();
  lines.once('close', () => close(''));
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
