// The echo service: answers with the request it received, and fails on demand.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as immediately, setTimeout as pause } from 'node:timers/promises';
import { sendError, sendJson } from '../service/answer.ts';
import { type ListenOptions, listen, type Service } from '../service/listen.ts';
import { type Behaviour, readBehaviour } from './behaviour.ts';
import { type Received, receive } from './received.ts';

/** Requests since start or the last reset; `aborted`: those whose client disconnected before the whole answer. */
interface Tally {
  count: number;
  active: number;
  aborted: { readonly method: string; readonly target: string }[];
}

/** `GET /echo/-/count` answers `{ count, active, aborted }`; `DELETE` resets it. */
export function startEcho(options: ListenOptions): Promise<Service> {
  const tally: Tally = { count: 0, active: 0, aborted: [] };
  return listen((request, response) => {
    const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
    if (path === '/echo/-/count') return answerTally(tally, request, response);
    if (path !== '/echo' && !path.startsWith('/echo/'))
      return sendError(response, 404, 'There is no such resource');
    const behaviour = readBehaviour(new URLSearchParams(query));
    if (typeof behaviour === 'string') return sendError(response, 400, behaviour);
    const gone = watch(tally, behaviour, request, response);
    answer(behaviour, request, response, gone).catch((error: unknown) => {
      // A disconnected client ends every wait with an error. It is counted already.
      if (gone.aborted || !request.complete) return;
      response.destroy();
      process.stderr.write(`echo: ${error instanceof Error ? error.message : String(error)}\n`);
    });
  }, options);
}

function answerTally(tally: Tally, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'DELETE') {
    sendJson(response, 200, tally, { 'Cache-Control': 'no-store' });
    return;
  }
  tally.count = 0;
  tally.aborted = [];
  response.writeHead(204).end();
}

function watch(
  tally: Tally,
  behaviour: Behaviour,
  request: IncomingMessage,
  response: ServerResponse,
): AbortSignal {
  const gone = new AbortController();
  tally.count += 1;
  tally.active += 1;
  response.once('close', () => {
    tally.active -= 1;
    if (response.writableFinished) return;
    gone.abort();
    if (behaviour.hangup === undefined) {
      tally.aborted.push({ method: request.method ?? '', target: request.url ?? '' });
    }
  });
  return gone.signal;
}

async function answer(
  behaviour: Behaviour,
  request: IncomingMessage,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  const received = await receive(request);
  if (behaviour.hang) return;
  if (behaviour.delayMs > 0) await pause(behaviour.delayMs, undefined, { signal: gone });
  if (behaviour.hangup === 'before') {
    request.socket.destroy();
    return;
  }
  for (const [name, value] of behaviour.headers) response.appendHeader(name, value);
  if (behaviour.stream === undefined) return sendWhole(behaviour, received, response);
  await sendStream(behaviour, behaviour.stream, response, gone);
}

function sendWhole({ status, hangup }: Behaviour, received: Received, response: ServerResponse): void {
  if (status === 204 || status === 304) {
    response.writeHead(status).end();
    return;
  }
  const body = Buffer.from(JSON.stringify(received));
  if (!response.hasHeader('content-type'))
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
  if (!response.hasHeader('content-length')) response.setHeader('Content-Length', body.length);
  response.writeHead(status);
  if (hangup === 'middle') response.write(body.subarray(0, body.length >> 1), () => response.destroy());
  else response.end(body);
}

async function sendStream(
  { status, hangup }: Behaviour,
  { chunks, everyMs, bytes }: NonNullable<Behaviour['stream']>,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  if (!response.hasHeader('content-type')) response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.writeHead(status);
  response.flushHeaders();
  const sent = hangup === 'middle' ? chunks >> 1 : chunks;
  for (let index = 0; index < sent; index += 1) {
    if (index > 0 && everyMs > 0) await pause(everyMs, undefined, { signal: gone });
    const chunk = `chunk ${index}\n`.padEnd(bytes, '.');
    if (!response.write(chunk)) await once(response, 'drain', { signal: gone });
  }
  if (hangup !== 'middle') {
    response.end();
    return;
  }
  // The write reaches the socket at the end of this turn. If the socket were destroyed earlier, the client would see none of it.
  await immediately();
  response.destroy();
}
