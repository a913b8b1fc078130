// What a command that talked to a gateway ends with: words or JSON on stdout, or the failure on stderr.
// Shared by `pause` and `pin`.
import { failureJson } from './check.ts';
import { type Failure, failure } from './running-gateway.ts';

export type OperatorFormat = 'text' | 'json';

export interface OperatorResult {
  readonly exitCode: 0 | Failure['exitCode'];
  readonly stdout: string;
  readonly stderr: string;
}

/** Said on stderr, and to machines on stdout too. */
export function failed({ exitCode, text, problems }: Failure, format: OperatorFormat): OperatorResult {
  return { exitCode, stdout: format === 'json' ? failureJson(text, problems) : '', stderr: text };
}

/** `body` as the gateway sent it, or `render` of what was understood of it. */
export function told<T>(
  body: unknown,
  read: (body: unknown) => T | undefined,
  { format, render }: { readonly format: OperatorFormat; readonly render: (answer: T) => string },
): OperatorResult {
  const answer = read(body);
  if (answer === undefined) {
    return failed(failure(3, 'the gateway is of another edition than this command'), format);
  }
  const stdout = format === 'json' ? `${JSON.stringify(body, undefined, 2)}\n` : render(answer);
  return { exitCode: 0, stdout, stderr: '' };
}
