// The upstream of the suite records requests and responds as the case requires. The path names the case.
import { createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type ReadRequest, type RecordedRequest, readRequest } from './recorded-request.ts';
import type { Script } from './wire-case.ts';

export interface Recorder extends AsyncDisposable {
  readonly port: number;
  /** The requests that contain the tag, in order. Octets that are not a request have an empty method. */
  readonly requestsOf: (tag: string) => readonly RecordedRequest[];
  /** The requests that contain none of these tags. */
  readonly requestsBeside: (tags: readonly string[]) => readonly RecordedRequest[];
  /** Octets on the connection of the tag after it became a tunnel. */
  readonly tunnelled: (tag: string) => string;
  /** Replaces the response to the request for `…/c/<tag>`. */
  readonly script: (tag: string, script: Script) => void;
}

/** The frame that a tunnel of the recorder sends for any octets: text, unmasked, "seen". */
export const SEEN = '\x81\x04seen';

/** In the body of each default response, because HTTP/2 may compress the field that marks it. */
export const ORDINARY = '"from":"the suite"';

const TAGS = /t_[\w-]+/g;

/** The default response. Its `target` shows a client which request it answers. */
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
    // A proxy may reset the connection. The request stays incomplete.
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('end', () => {
      const nothing: ReadRequest = {
        head: text,
        method: '',
        target: '',
        fields: [],
        dirt: ['bytes that are not a request'],
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
          // After this, the recorder treats the connection as a tunnel, even if the 101 is invalid.
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
      // Nearly each head has a known tag. Only other heads are searched for each tag.
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
    // A reset must not overtake the octets.
    await wait(20);
    socket.resetAndDestroy();
  }
}
