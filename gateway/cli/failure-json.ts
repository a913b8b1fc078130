// What a command that was asked for JSON prints where it comes to nothing; the words for people stand on stderr as ever.
// For the commands with `--format json` that have nothing else to show then; `check` and `diff` show their findings.
import type { Problem } from '../plan/problems.ts';
import { forMachines } from './check.ts';

/** `text` as it is said on stderr, `problems` where it is made of these; ends with a line feed. */
export function failureJson(text: string, problems: readonly Problem[] = []): string {
  const error = problems.length === 0 ? text.trim().replace(/^sundial: /, '') : 'problems in the files';
  return `${JSON.stringify({ error, problems: problems.map(forMachines) }, undefined, 2)}\n`;
}
