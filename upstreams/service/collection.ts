// Answers requests to a collection: parses the path, checks method and Accept, and dispatches to reads and writes.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type ResponseHeaders, sendError } from './answer.ts';
import type { Collection } from './collection-contract.ts';
import { readItem, readList } from './collection-reads.ts';
import { writeTo } from './collection-writes.ts';
import { isBusy } from './database.ts';
import { acceptsJson, JSON_TYPE, MERGE_PATCH } from './media.ts';
import { NOT_THERE, type Outcome, type Refused, sendOutcome } from './outcome.ts';
import { parseTarget, type Target } from './target.ts';

const BUSY_SECONDS = 1;

export function answerCollection<Item>(collection: Collection<Item>): RequestListener {
  return (request, response) => {
    answer(collection, request, response).catch((error: unknown) => fail(request, response, error));
  };
}

async function answer<Item>(
  collection: Collection<Item>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (collection.vary !== undefined) response.setHeader('Vary', collection.vary);
  sendOutcome(response, await outcomeOf(collection, request));
}

async function outcomeOf<Item>(
  collection: Collection<Item>,
  request: IncomingMessage,
): Promise<Outcome | Refused> {
  const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
  const target = parseTarget(collection, path);
  if (target === undefined) return NOT_THERE;
  const { method = '', headers } = request;
  const allowed = methodsOf(collection, target);
  const allow = { Allow: allowed.join(', ') };
  if (method === 'OPTIONS')
    return { status: 204, headers: { ...allow, ...acceptPatch(allowed) }, body: undefined };
  if (!allowed.includes(method))
    return { refused: 405, message: `${method} is not supported here`, headers: allow };
  // A DELETE has no response body to negotiate.
  if (method !== 'DELETE' && !acceptsJson(headers.accept))
    return { refused: 406, message: `The response is ${JSON_TYPE}, which Accept excludes` };
  const parameters = new URLSearchParams(query);
  if (method !== 'GET' && method !== 'HEAD') return writeTo(collection, target, parameters, request);
  return target.kind === 'item'
    ? readItem(collection, target.key, parameters, headers)
    : readList(collection, parameters, headers);
}

function methodsOf<Item>({ writing }: Collection<Item>, { kind }: Target): readonly string[] {
  if (kind === 'action') return ['OPTIONS', 'POST'];
  const reads = ['GET', 'HEAD', 'OPTIONS'];
  if (writing === undefined) return reads;
  return [...reads, ...(kind === 'whole' ? ['POST'] : ['PUT', 'PATCH', 'DELETE'])];
}

function acceptPatch(allowed: readonly string[]): ResponseHeaders {
  return allowed.includes('PATCH') ? { 'Accept-Patch': `${MERGE_PATCH}, ${JSON_TYPE}` } : {};
}

function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  // The client disconnected while sending its body.
  if (request.destroyed && !request.complete) return;
  const requestId = randomUUID();
  process.stderr.write(
    `${requestId} ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  if (response.headersSent) response.destroy();
  else if (isBusy(error)) sendBusy(response);
  else sendError(response, 500, 'The service failed', {}, { requestId });
}

function sendBusy(response: ServerResponse): void {
  const restored = new Date(Date.now() + BUSY_SECONDS * 1_000).toISOString();
  sendError(
    response,
    503,
    'The service is busy',
    { 'Retry-After': String(BUSY_SECONDS) },
    { retryAfter: BUSY_SECONDS, estimatedRestoration: restored },
  );
}
