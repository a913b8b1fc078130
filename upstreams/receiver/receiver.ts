// The receiver's HTTPS server: verifies the signature of each delivery and accepts each event once; GET /received shows them.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { sendError, sendJson } from '../service/answer.ts';
import type { Service } from '../service/listen.ts';
import { isOwnHost } from '../service/own-host.ts';
import type { Received, ReceivedEvent } from './received.ts';
import { verifyBodyOnly, verifyStandard } from './verify.ts';

export const HOOKS = '/hooks';
const MAX_BYTES = 1024 * 1024;

export interface ReceiverOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly pair: { readonly cert: string; readonly key: string };
  /** Secrets of the subscription, the newest first. While there are none, every delivery is refused. */
  readonly secrets: () => readonly string[];
  readonly received: Received;
  /** The status with which valid deliveries fail; undefined: they are accepted. */
  readonly failure?: () => number | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Listens on 127.0.0.1 as `localhost`. Rejects with the system's error if the port is not available. */
export async function startReceiver(options: ReceiverOptions): Promise<Service> {
  const server = createServer({ ...options.pair, minVersion: 'TLSv1.2' }, (request, response) => {
    answer(options, request, response).catch(() => response.destroy()); // the sender disconnected
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://localhost:${port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

async function answer(
  options: ReceiverOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isOwnHost(request)) return sendError(response, 421, 'The service does not serve this host');
  const [path] = (request.url ?? '').split('?', 1);
  switch (`${request.method} ${path}`) {
    case 'GET /healthz':
      return sendJson(response, 200, { status: 'ok' });
    case 'GET /received':
      return sendJson(response, 200, { total: options.received.count(), data: options.received.latest() });
    case `POST ${HOOKS}`:
      return takeDelivery(options, request, response);
    case `GET ${HOOKS}`:
      return sendError(response, 405, 'Send deliveries with POST', { Allow: 'POST' });
    default:
      return sendError(response, 404, `Send deliveries with POST to ${HOOKS}; GET /received lists them`);
  }
}

/** Answers 200 or 401 at once (WH-4). Work on an event must come after the acknowledgement. */
async function takeDelivery(
  { secrets, received, failure, now }: ReceiverOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBytes(request);
  if (body === undefined) return sendError(response, 413, 'A delivery has at most 1 MiB');
  const { headers } = request;
  const known = secrets();
  // A sender of the standard fields has signed the time. The literal form is for one that has not.
  const isSigned =
    headers['webhook-signature'] === undefined
      ? verifyBodyOnly(headers, body, known)
      : verifyStandard(headers, body, known, now());
  if (!isSigned) return sendError(response, 401, 'The signature is missing, wrong or too old');
  const event = readEvent(body);
  if (event === undefined)
    return sendError(response, 400, 'The body must be an event with id, type, created and data');
  const status = failure?.();
  if (status !== undefined) {
    response.writeHead(status).end();
    return;
  }
  const isNew = received.take(event, now());
  sendJson(response, 200, { received: event.id, duplicate: !isNew });
}

async function readBytes(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BYTES) chunks.push(chunk);
  }
  return length <= MAX_BYTES ? Buffer.concat(chunks) : undefined;
}

function readEvent(body: Buffer): ReceivedEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return undefined; // not JSON
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, type, created, data }: Partial<Record<keyof ReceivedEvent, unknown>> = value;
  const isEvent =
    typeof id === 'string' && id !== '' && typeof type === 'string' && typeof created === 'number';
  return isEvent ? { id, type, created, data } : undefined;
}
