// Raw TCP on both sides of the gateway: a client that sends exact bytes, and an upstream that records them.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface RawAnswer {
  readonly text: string;
  readonly statuses: readonly number[];
  readonly closed: boolean;
}

/** Sends `bytes` and reads until the connection closes or `answers` complete responses have arrived. */
export function sendRaw(port: number, bytes: string | Buffer, answers = 1): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(bytes, 'latin1');
    });
    const done = (closed: boolean): void => {
      clearTimeout(late);
      socket.destroy();
      resolve({ text, statuses: statusesOf(text), closed });
    };
    const late = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no answer to the end; so far: ${text}`));
    }, 20_000);
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
      // After `Connection: close`, reads until the connection really closes.
      if (!/\r\nconnection: close/i.test(text) && completeAnswers(text) >= answers) done(false);
    });
    socket.on('error', () => done(true));
    socket.on('end', () => done(true));
  });
}

function statusesOf(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
}

// Supports what the tests send: Content-Length or chunked, and no body that looks like a head.
function completeAnswers(text: string): number {
  let rest = text;
  let count = 0;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return count;
    const head = rest.slice(0, end);
    rest = rest.slice(end + 4);
    if (/^HTTP\/1\.1 1\d\d/.test(head)) continue;
    const length = /\r\ncontent-length: (\d+)/i.exec(head);
    if (/\r\ntransfer-encoding: chunked/i.test(head)) {
      const last = rest.indexOf('0\r\n\r\n');
      if (last < 0) return count;
      rest = rest.slice(last + 5);
    } else if (length !== null) {
      if (rest.length < Number(length[1])) return count;
      rest = rest.slice(Number(length[1]));
    }
    count += 1;
  }
}

export interface RawClient {
  readonly socket: Socket;
  text: string;
  /** The gateway closed the connection, by FIN or RST. */
  ended: boolean;
}

/** A connection that the test writes to, reads from and destroys. */
export async function openRaw(port: number, tls = false): Promise<RawClient> {
  const host = '127.0.0.1';
  const toName = { servername: 'api.example.com', rejectUnauthorized: false };
  const socket = tls ? connectTls({ port, host, ...toName }) : connect(port, host);
  const client: RawClient = { socket, text: '', ended: false };
  const onEnd = (): void => {
    client.ended = true;
  };
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  socket.on('error', onEnd).on('end', onEnd).on('close', onEnd);
  socket.on('data', (chunk: string) => {
    client.text += chunk;
  });
  await new Promise<void>((resolve) => socket.once(tls ? 'secureConnect' : 'connect', resolve));
  return client;
}

export interface RawRequest {
  /** The received head without its last empty line. */
  readonly head: string;
  readonly socket: Socket;
  /** The received octets of the body, with their framing. */
  body: string;
  complete: boolean;
  ended: boolean;
}

export interface RawUpstream {
  readonly origin: string;
  readonly requests: RawRequest[];
  readonly sockets: Set<Socket>;
  readonly stop: () => Promise<void>;
}

export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/**
 * Calls `answer` at each head, and `onBody` at each further part of a body. Writes a defined result.
 */
export async function startUpstream(
  answer: (request: RawRequest, count: number) => string | undefined = () => OK,
  onBody: (request: RawRequest) => string | undefined = () => undefined,
): Promise<RawUpstream> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    let current: RawRequest | undefined;
    let buffer = '';
    socket.setEncoding('latin1');
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      if (current !== undefined) current.ended = true;
    });
    const step = (): boolean => {
      if (current !== undefined && !current.complete) {
        if (buffer === '') return false;
        const taken = bodyBytes(current, buffer);
        current.body += buffer.slice(0, taken);
        buffer = buffer.slice(taken);
        const text = onBody(current);
        if (text !== undefined) socket.write(text, 'latin1');
        return true;
      }
      const end = buffer.indexOf('\r\n\r\n');
      if (end < 0) return false;
      const head = buffer.slice(0, end);
      buffer = buffer.slice(end + 4);
      const complete = !/\r\n(?:content-length: [1-9]|transfer-encoding:)/i.test(head);
      current = { head, socket, body: '', complete, ended: false };
      requests.push(current);
      const text = answer(current, requests.length);
      if (text !== undefined) socket.write(text, 'latin1');
      return true;
    };
    socket.on('data', (chunk: string) => {
      buffer += chunk;
      while (step());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('not listening');
  return {
    origin: `http://127.0.0.1:${bound.port}`,
    requests,
    sockets,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

/** The number of octets of `buffer` that belong to the body. Marks the request complete at its end. */
function bodyBytes(request: RawRequest, buffer: string): number {
  const length = /\r\ncontent-length: (\d+)/i.exec(request.head);
  if (length !== null) {
    const taken = Math.min(Number(length[1]) - request.body.length, buffer.length);
    request.complete = request.body.length + taken === Number(length[1]);
    return taken;
  }
  const framed = request.body + buffer;
  let at = 0;
  for (;;) {
    const line = framed.indexOf('\r\n', at);
    if (line < 0) return buffer.length;
    const size = Number.parseInt(framed.slice(at, line), 16);
    at = line + 2 + size + 2;
    if (at > framed.length) return buffer.length;
    if (size === 0) {
      request.complete = true;
      return at - request.body.length;
    }
  }
}

/** A request for the host and prefix that the small exchange forwards. */
export function get(path = '/echo', lines: readonly string[] = [], method = 'GET', body = ''): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: api.example.com', ...lines, '', body].join('\r\n');
}

/** The same request in a form that only Node's parser reads. */
export function odd(path?: string, lines: readonly string[] = [], method?: string, body?: string): string {
  return get(path, ['X-Odd:\t1', ...lines], method, body);
}

/** Polls a condition that another process or the event loop brings about. @throws after twenty seconds */
export async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 20_000;
  while (!holds()) {
    if (performance.now() > end) throw new Error('the awaited state did not come');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
