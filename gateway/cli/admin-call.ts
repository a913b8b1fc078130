// Types of a call to the admin API of a running gateway, and how its result is printed.
import type { NextCommand } from '../plan/next-command.ts';
import type { Problem } from '../plan/problems.ts';
import { type ApartResult, failureJson, jsonText } from './command-result.ts';

export interface CallError {
  readonly kind: 'failed';
  /** 1: the gateway refuses, 2: wrong usage or an unreadable file, 3: no gateway answers. */
  readonly exitCode: 1 | 2 | 3;
  readonly text: string;
  /** The problems in the files that `text` describes. */
  readonly problems?: readonly Problem[];
}

export function failure(exitCode: CallError['exitCode'], sentence: string): CallError {
  return { kind: 'failed', exitCode, text: `sundial: ${sentence}\n` };
}

export const OTHER_EDITION = failure(3, 'the gateway and this command have different versions of Sundial');

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Undefined members are omitted. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** A status outside 2xx whose body is a valid answer too. */
  readonly also?: number;
  readonly withinMs?: number;
}

/** `.` and `..` are encoded too, because they would change the path. */
export function segment(text: string): string {
  return encodeURIComponent(text).replace(/^\.{1,2}$/, (dots) => dots.replaceAll('.', '%2E'));
}

export function withQuery(path: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export interface AdminResponse {
  readonly kind: 'answered';
  readonly body: unknown;
}

export interface ListenerPage {
  readonly kind: 'page';
  readonly origin: string;
  readonly status: number;
  /** Undefined if the body is not JSON. */
  readonly body: unknown;
}

/** The gateway that the options select. The first request finds it. */
export interface GatewayClient {
  readonly ask: (request: ApiCall) => Promise<AdminResponse | CallError>;
  readonly readiness: () => Promise<ListenerPage | CallError>;
  readonly format: 'text' | 'json';
  readonly next: NextCommand;
}

export type GatewayAction = (gateway: GatewayClient) => Promise<ApartResult>;

interface AdminCall<Answer> {
  readonly request: ApiCall;
  /** Undefined if the body does not have the expected form. */
  readonly read: (body: unknown) => Answer | undefined;
  readonly render: (answer: Answer, next: NextCommand) => string;
  /** Text for people, printed on stderr: a pipe gets only the answer. */
  readonly note?: (answer: Answer, next: NextCommand) => string;
  /** Whether everything requested was done. Default: always. */
  readonly isDone?: (answer: Answer) => boolean;
  /** Replaces members and addresses of the API with arguments and commands. */
  readonly inCommandWords?: (text: string, next: NextCommand) => string;
}

/** Prints the response body as sent (JSON) or as `render` writes it. Exit code 1 if `isDone` is false. */
export function call<Answer>({
  request,
  read,
  render,
  note,
  isDone = () => true,
  inCommandWords = (text) => text,
}: AdminCall<Answer>): GatewayAction {
  return async ({ ask, format, next }) => {
    const answered = await ask(request);
    if (answered.kind === 'failed') {
      const { text, problems } = answered;
      return failed(problems ? answered : { ...answered, text: inCommandWords(text, next) }, format);
    }
    const answer = read(answered.body);
    if (answer === undefined) return failed(OTHER_EDITION, format);
    const exitCode = isDone(answer) ? 0 : 1;
    if (format === 'json') return { exitCode, stdout: jsonText(answered.body), stderr: '' };
    return { exitCode, stdout: render(answer, next), stderr: note?.(answer, next) ?? '' };
  };
}

/** With `format: json` stdout has the failure too. */
export function failed(
  { exitCode, text, problems }: CallError,
  format: GatewayClient['format'],
): ApartResult {
  return { exitCode, stdout: format === 'json' ? failureJson(text, problems) : '', stderr: text };
}
