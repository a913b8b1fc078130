// What a command ends with: an exit code, and texts for stdout and stderr.
import { hasErrors, type Problem } from '../plan/problems.ts';

/** 0 in order, 1 findings or a gateway that says no, 2 wrong usage or a file that cannot be read, 3 no gateway answers. */
export type ExitCode = 0 | 1 | 2 | 3;

export interface CommandResult {
  readonly exitCode: ExitCode;
  readonly text: string;
  /** Of a command asked for JSON that has nothing to show: why, for machines. */
  readonly json?: string;
}

/** Of a command with something to show or to write: that on stdout, or on stderr why it came to nothing. */
export interface ApartResult {
  readonly exitCode: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

/** Findings are what was asked for: they go to stdout, whatever they are. */
export async function findings(result: Promise<CommandResult>): Promise<ApartResult> {
  const { exitCode, text } = await result;
  return { exitCode, stdout: text, stderr: '' };
}

/** The result of a command that shows or writes all or nothing; for machines with the reason. */
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

/** 0 in order, 1 findings, 2 a file that cannot be read. */
export function exitCodeOf(problems: readonly Problem[], strict: boolean): 0 | 1 | 2 {
  if (problems.some(({ rule }) => rule === 'unreadable')) return 2;
  return hasErrors(problems) || (strict && problems.length > 0) ? 1 : 0;
}

/** `text` as it is said on stderr, `problems` where it is made of these; ends with a line feed. */
export function failureJson(text: string, problems: readonly Problem[] = []): string {
  const error = problems.length === 0 ? text.trim().replace(/^sundial: /, '') : 'problems in the files';
  return jsonText({ error, problems: problems.map(forMachines) });
}

export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** The source line stays out: only the text form masks what it quotes. */
export function forMachines({ source: _source, ...problem }: Problem): Omit<Problem, 'source'> {
  return problem;
}
