// The upstream of the suite: records exactly what a proxy sends, and answers as the case wants it.
// Cases are told apart by the tag in the path.
import { createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type ReadRequest, type RecordedRequest, readRequest } from './recorded-request.ts';
import type { Script } from './wire-case.ts';

export interface Recorder extends AsyncDisposable {
  readonly port: number;
  /** What names the tag, in the order it came; rests of connections that are no request have an empty method. */
  readonly requestsOf: (tag: string) => readonly RecordedRequest[];
  /** What names none of these tags. */
  readonly requestsBeside: (tags: readonly string[]) => readonly RecordedRequest[];
  /** Bytes that came on the connection of the tag after it had become a tunnel. */
  readonly tunnelled: (tag: string) => string;
  /** What to do with the request for `…/c/<tag>`, instead of answering 200. */
  readonly script: (tag: string, script: Script) => void;
}

/** The frame that a tunnel of the recorder sends back for whatever it gets: text, unmasked, "seen". */
export const SEEN = '\x81\x04seen';

/** In the body of every ordinary answer: HTTP/2 packs field values, so that the mark in the head cannot be seen there. */
export const ORDINARY = '"from":"the suite"';

/** Whatever may be a tag. */
const TAGS = /t_[\w-]+/g;

/** What the recorder answers; a client knows by `target` whose answer it has. */
export function ordinaryAnswer({ method, target, body }: ReadRequest): string {
  const text = JSON.stringify({ from: 'the suite', target, method, bytes: body.length });
  return `HTTP/1.1 200 OK\r\nX-Upstream: suite\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${method === 'HEAD' ? '' : text}`;
}

export async function startRecorder(port = 0, host = '127.0.0.1'): Promise<Recorder> {
  const requests: RecordedRequest[] = [];
  const scripts = new Map<string, Script>();
  const tunnels = new Map<string, string>();
  const sockets = new Set<Socket>();
  let connections = 0;

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    connections += 1;
    const connection = connections;
    sockets.add(socket);
    let text = '';
    let tunnel: string | undefined;
    let slot: number | undefined;
    let answered = false;
    socket.setEncoding('latin1');
    // A reset is one of the ways in which a proxy may leave; the request stays incomplete.
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('end', () => {
      const nothing: ReadRequest = {
        head: text,
        method: '',
        target: '',
        fields: [],
        dirt: ['bytes that are no request'],
        body: '',
        complete: false,
      };
      if (text !== '' && slot === undefined && tunnel === undefined)
        requests.push({ ...nothing, connection });
      socket.end();
    });
    const step = (): boolean => {
      const progress = text === '' ? undefined : readRequest(text);
      if (progress === undefined) return false;
      const request = { ...progress.request, connection };
      slot ??= requests.length;
      requests[slot] = request;
      const tag = /\/c\/(t_[\w-]+)/.exec(request.target)?.[1];
      const script = tag === undefined ? undefined : scripts.get(tag);
      if (!answered && (request.complete || script?.early === true)) {
        answered = true;
        if (script === undefined) socket.write(ordinaryAnswer(request), 'latin1');
        else {
          const pieces = script.pieces(request);
          // Whatever else is wrong with it, for this upstream the connection is a tunnel from here on.
          if (pieces.join('').includes('HTTP/1.1 101 ')) tunnel = tag;
          void play(pieces, script, socket);
        }
      }
      if (!request.complete) return false;
      text = text.slice(progress.used);
      slot = undefined;
      answered = false;
      if (tunnel !== undefined) tunnels.set(tunnel, text);
      return tunnel === undefined && text !== '';
    };
    socket.on('data', (chunk: string) => {
      if (tunnel !== undefined) {
        tunnels.set(tunnel, (tunnels.get(tunnel) ?? '') + chunk);
        socket.write(SEEN, 'latin1');
        return;
      }
      text += chunk;
      while (step());
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    requestsOf: (tag) => requests.filter((each) => each.head.includes(tag)),
    requestsBeside: (tags) => {
      const known = new Set(tags);
      // Nearly every head shows one of them as it is; only the others are looked through for each.
      const shows = (head: string) => head.match(TAGS)?.some((tag) => known.has(tag)) ?? false;
      return requests.filter(({ head }) => !shows(head) && !tags.some((tag) => head.includes(tag)));
    },
    tunnelled: (tag) => tunnels.get(tag) ?? '',
    script: (tag, script) => void scripts.set(tag, script),
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function play(pieces: readonly string[], script: Script, socket: Socket): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0 && script.gapMs !== undefined) await wait(script.gapMs);
    if (socket.destroyed) return;
    socket.write(piece, 'latin1');
  }
  if (script.end === 'fin') socket.end();
  if (script.end === 'reset') {
    // What was written must leave first, or the reset would take it along.
    await wait(20);
    socket.resetAndDestroy();
  }
}
