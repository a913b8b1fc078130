// What a command ends with that found problems in the files.
// Shared by the commands that read them, and by those that only look for the running gateway in one.
import { hasErrors, type Problem } from '../plan/problems.ts';

/** 0 in order, 1 findings, 2 a file that cannot be read. */
export function exitCodeOf(problems: readonly Problem[], strict: boolean): 0 | 1 | 2 {
  if (problems.some(({ rule }) => rule === 'unreadable')) return 2;
  return hasErrors(problems) || (strict && problems.length > 0) ? 1 : 0;
}
