// What a command that talked to a gateway ends with: words or JSON on stdout, or the failure on stderr.
// Shared by the commands that ask its admin listener.
import type { Answered } from './admin-client.ts';
import { type ApartResult, failureJson } from './check/check.ts';
import { type Failure, OTHER_EDITION } from './running-gateway.ts';

export type OperatorFormat = 'text' | 'json';

/** Said on stderr, and to machines on stdout too. */
export function failed({ exitCode, text, problems }: Failure, format: OperatorFormat): ApartResult {
  return { exitCode, stdout: format === 'json' ? failureJson(text, problems) : '', stderr: text };
}

interface Telling<T> {
  readonly format: OperatorFormat;
  readonly render: (answer: T) => string;
  /** Text for people, printed on stderr: a pipe gets only the answer. */
  readonly note?: (answer: T) => string;
  /** Whether all that was asked for is done; default: always. */
  readonly isDone?: (answer: T) => boolean;
}

/** What was answered as the gateway sent it, or `render` of what was understood of it; 1 where not all is done. */
export function told<T>(
  answered: Answered | Failure,
  read: (body: unknown) => T | undefined,
  { format, render, note, isDone = () => true }: Telling<T>,
): ApartResult {
  if (answered.kind === 'failed') return failed(answered, format);
  const answer = read(answered.body);
  if (answer === undefined) return failed(OTHER_EDITION, format);
  const exitCode = isDone(answer) ? 0 : 1;
  if (format === 'json')
    return { exitCode, stdout: `${JSON.stringify(answered.body, undefined, 2)}\n`, stderr: '' };
  return { exitCode, stdout: render(answer), stderr: note?.(answer) ?? '' };
}
