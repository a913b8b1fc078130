// Ends a request that failed: 503 while the store is away, 500 with an id for everything unforeseen.
// The last resort of every listener of this service; what went wrong stays in the operator's log.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendError } from '../service/answer.ts';
import { StoreAway } from './store.ts';

const BACK_IN_SECONDS = 2;

interface FailureParts {
  readonly now: () => number;
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
  /** Told of a store that is away: each request says the same of it. */
  readonly onFault: (error: unknown) => void;
}

export function sendFailure(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  { now, log, onFault }: FailureParts,
): void {
  // The client left in the middle of its body: there is nobody to tell.
  if (request.destroyed && !request.complete) return;
  const isAway = error instanceof StoreAway;
  const requestId = randomUUID();
  if (isAway) onFault(error);
  else log({ event: 'request_failed', requestId, error: describe(error) });
  if (response.headersSent) response.destroy();
  else if (isAway) sendAway(response, now());
  else sendError(response, 500, 'The service failed', {}, { requestId });
}

/** With its cause: "the store is away" alone helps nobody. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof StoreAway
    ? `${error.message}: ${describe(error.cause)}`
    : (error.stack ?? error.message);
}

function sendAway(response: ServerResponse, now: number): void {
  sendError(
    response,
    503,
    'The store of the service is away',
    { 'Retry-After': String(BACK_IN_SECONDS) },
    {
      retryAfter: BACK_IN_SECONDS,
      estimatedRestoration: new Date(now + BACK_IN_SECONDS * 1000).toISOString(),
    },
  );
}
