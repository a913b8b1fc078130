// Answers a failed request: 503 if the store is unavailable, 500 with a request id for an unexpected error.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendError } from '../service/answer.ts';
import { StoreUnavailable } from './store.ts';

const BACK_IN_SECONDS = 2;

interface FailureParts {
  readonly now: () => number;
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
  /** Gets errors of an unavailable store, which all requests have in common. */
  readonly onFault: (error: unknown) => void;
}

export function sendFailure(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  { now, log, onFault }: FailureParts,
): void {
  // The client disconnected while sending its body.
  if (request.destroyed && !request.complete) return;
  const isUnavailable = error instanceof StoreUnavailable;
  const requestId = randomUUID();
  if (isUnavailable) onFault(error);
  else log({ event: 'request_failed', requestId, error: describe(error) });
  if (response.headersSent) response.destroy();
  else if (isUnavailable) sendUnavailable(response, now());
  else sendError(response, 500, 'The service failed', {}, { requestId });
}

/** Includes the cause of an unavailable store. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof StoreUnavailable
    ? `${error.message}: ${describe(error.cause)}`
    : (error.stack ?? error.message);
}

function sendUnavailable(response: ServerResponse, now: number): void {
  sendError(
    response,
    503,
    'The store of the service is unavailable',
    { 'Retry-After': String(BACK_IN_SECONDS) },
    {
      retryAfter: BACK_IN_SECONDS,
      estimatedRestoration: new Date(now + BACK_IN_SECONDS * 1000).toISOString(),
    },
  );
}
