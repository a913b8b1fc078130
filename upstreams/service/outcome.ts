// The result of a request as a value: stored for idempotency keys, sent at the end; refusals included.
import type { ServerResponse } from 'node:http';
import { type ErrorStatus, type ResponseHeaders, sendError, sendText } from './answer.ts';

export interface Outcome {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** JSON text; undefined: no body. */
  readonly body: string | undefined;
}

export interface Refused {
  readonly refused: ErrorStatus;
  readonly message: string;
  readonly headers?: ResponseHeaders;
}

export const NOT_THERE: Refused = { refused: 404, message: 'There is no such resource' };
/** RFC 9110 section 13.2: a precondition failed. */
export const PRECONDITION_FAILED = 'The resource has changed, so the precondition of the request failed';

export function sendOutcome(response: ServerResponse, outcome: Outcome | Refused): void {
  // Caches may store a 404 or 405 without a Cache-Control (RFC 9110 §15.1), and the resource may appear later.
  if ('refused' in outcome)
    sendError(response, outcome.refused, outcome.message, {
      'Cache-Control': 'no-store',
      ...outcome.headers,
    });
  else if (outcome.body !== undefined) sendText(response, outcome.status, outcome.body, outcome.headers);
  else {
    for (const [name, value] of Object.entries(outcome.headers)) response.setHeader(name, value);
    response.writeHead(outcome.status).end();
  }
}
