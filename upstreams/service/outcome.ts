// What a request is answered with, as a value: made by reads and writes, kept for idempotency keys, sent at the end.
// A refusal is one of them too; only what fails is thrown.
import type { ServerResponse } from 'node:http';
import { type ErrorStatus, type FieldLines, sendError, sendText } from './answer.ts';

export interface Outcome {
  readonly status: number;
  readonly lines: FieldLines;
  /** JSON text; undefined: no body. */
  readonly body: string | undefined;
}

export interface Refused {
  readonly refused: ErrorStatus;
  readonly message: string;
  readonly lines?: FieldLines;
}

export const NOT_THERE: Refused = { refused: 404, message: 'There is no such resource' };
/** RFC 9110 section 13.2: the state that the request names is not the one that is there. */
export const OTHER_STATE = 'This is not the state that the request is for';

export function sendOutcome(response: ServerResponse, outcome: Outcome | Refused): void {
  // A cache may keep a 404 or 405 that says nothing else (RFC 9110 §15.1), and what was missing may come.
  if ('refused' in outcome)
    sendError(response, outcome.refused, outcome.message, { 'Cache-Control': 'no-store', ...outcome.lines });
  else if (outcome.body !== undefined) sendText(response, outcome.status, outcome.body, outcome.lines);
  else {
    for (const [name, line] of Object.entries(outcome.lines)) response.setHeader(name, line);
    response.writeHead(outcome.status).end();
  }
}
