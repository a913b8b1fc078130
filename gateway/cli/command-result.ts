// The result of a command: an exit code, and texts for stdout and stderr.
import { hasErrors, type Problem } from '../plan/problems.ts';

/** 0: no findings. 1: findings or a refusal. 2: wrong usage or an unreadable file. 3: no gateway answers. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface CommandResult {
  readonly exitCode: ExitCode;
  readonly text: string;
  /** The reason of a failure, with `--format json`. */
  readonly json?: string;
}

/** The result of a command that writes its output to stdout and the reason of a failure to stderr. */
export interface ApartResult {
  readonly exitCode: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

/** Findings are the output of the command, so they go to stdout. */
export async function findings(result: Promise<CommandResult>): Promise<ApartResult> {
  const { exitCode, text } = await result;
  return { exitCode, stdout: text, stderr: '' };
}

/** For a command that prints or writes everything or nothing. */
export async function allOrNothing(result: Promise<CommandResult>): Promise<ApartResult> {
  const { exitCode, text, json = '' } = await result;
  return exitCode === 0 ? shown(text) : { exitCode, stdout: json, stderr: text };
}

export function unusable(message: string): CommandResult {
  return { exitCode: 2, text: `sundial: ${message}\n` };
}

export function shown(stdout: string, exitCode: ExitCode = 0): ApartResult {
  return { exitCode, stdout, stderr: '' };
}

export function exitCodeOf(problems: readonly Problem[], strict: boolean): 0 | 1 | 2 {
  if (problems.some(({ rule }) => rule === 'unreadable')) return 2;
  return hasErrors(problems) || (strict && problems.length > 0) ? 1 : 0;
}

/** `text`: as printed on stderr. `problems`: those that `text` describes. The result ends with a line feed. */
export function failureJson(text: string, problems: readonly Problem[] = []): string {
  const error = problems.length === 0 ? text.trim().replace(/^sundial: /, '') : 'problems in the files';
  return jsonText({ error, problems: problems.map(forMachines) });
}

export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Omits the source line, because only the text form masks secrets in it. */
export function forMachines({ source: _source, ...problem }: Problem): Omit<Problem, 'source'> {
  return problem;
}
