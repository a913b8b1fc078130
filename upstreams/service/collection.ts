// Answers the requests for one collection and its items: list, read and, where it allows them, writes.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { sendError, sendJson, sendRepresentation } from './answer.ts';
import { type JsonObject, readObject } from './body.ts';
import { cutPage } from './page.ts';

export type Parsed<Item> =
  | { readonly kind: 'valid'; readonly item: Item }
  | { readonly kind: 'invalid'; readonly message: string };

export interface Collection<Item extends object> {
  /** Path without a trailing slash, as `/orders`. */
  readonly path: string;
  readonly cacheControl: string;
  /** By the id in the path, in listing order. */
  readonly items: Map<string, Item>;
  /** How a client sees an item; absent: as it is kept. */
  readonly show?: (item: Item) => object;
  /** Absent: the collection is only read. */
  readonly write?: {
    readonly nextId: () => string;
    /** Makes a whole item of what a client wrote. */
    readonly parse: (id: string, written: JsonObject) => Parsed<Item>;
  };
}

export function answerCollection<Item extends object>(collection: Collection<Item>): RequestListener {
  return (request, response) => {
    answer(collection, request, response).catch((error: unknown) => fail(request, response, error));
  };
}

async function answer<Item extends object>(
  collection: Collection<Item>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
  if (path === collection.path) return answerWhole(collection, request, response, new URLSearchParams(query));
  const id = path.startsWith(`${collection.path}/`) ? path.slice(collection.path.length + 1) : '';
  const item = collection.items.get(id);
  if (item === undefined) return sendError(response, 404, 'There is no such resource');
  return answerItem(collection, id, item, request, response);
}

async function answerWhole<Item extends object>(
  { path, cacheControl, items, show = asKept, write }: Collection<Item>,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): Promise<void> {
  if (isRead(request)) {
    const cut = cutPage(Array.from(items.values(), show), query);
    if (cut.kind === 'refused') return sendError(response, 400, cut.message);
    return sendRepresentation(request, response, cut.page, cacheControl);
  }
  if (request.method === 'POST' && write !== undefined) {
    const body = await readObject(request);
    if (body.kind === 'refused') return sendError(response, body.status, body.message);
    const id = write.nextId();
    const parsed = write.parse(id, body.value);
    if (parsed.kind === 'invalid') return sendError(response, 400, parsed.message);
    items.set(id, parsed.item);
    // Relative to the collection, so that it also leads there through a gateway that knows it by another path.
    const location = `${path.slice(path.lastIndexOf('/') + 1)}/${id}`;
    return sendJson(response, 201, show(parsed.item), { Location: location });
  }
  return refuseMethod(request, response, write === undefined ? [] : ['POST']);
}

async function answerItem<Item extends object>(
  { cacheControl, items, show = asKept, write }: Collection<Item>,
  id: string,
  item: Item,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (isRead(request)) return sendRepresentation(request, response, show(item), cacheControl);
  if (write === undefined) return refuseMethod(request, response, []);
  switch (request.method) {
    case 'PUT':
    case 'PATCH': {
      const body = await readObject(request);
      if (body.kind === 'refused') return sendError(response, body.status, body.message);
      const parsed = write.parse(
        id,
        request.method === 'PUT' ? body.value : { ...show(item), ...body.value },
      );
      if (parsed.kind === 'invalid') return sendError(response, 400, parsed.message);
      items.set(id, parsed.item);
      return sendJson(response, 200, show(parsed.item));
    }
    case 'DELETE':
      items.delete(id);
      response.writeHead(204).end();
      return;
    default:
      return refuseMethod(request, response, ['PUT', 'PATCH', 'DELETE']);
  }
}

function asKept<Item extends object>(item: Item): object {
  return item;
}

function isRead(request: IncomingMessage): boolean {
  return request.method === 'GET' || request.method === 'HEAD';
}

function refuseMethod(request: IncomingMessage, response: ServerResponse, writes: readonly string[]): void {
  const lines = { Allow: ['GET', 'HEAD', 'OPTIONS', ...writes].join(', ') };
  if (request.method === 'OPTIONS') response.writeHead(204, lines).end();
  else sendError(response, 405, `${request.method} is not possible here`, lines);
}

function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  // The client left in the middle of its body: there is nobody to tell.
  if (request.destroyed && !request.complete) return;
  const requestId = randomUUID();
  process.stderr.write(
    `${requestId} ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  if (response.headersSent) response.destroy();
  else sendError(response, 500, 'The service failed', {}, { requestId });
}
