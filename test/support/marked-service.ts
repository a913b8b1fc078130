// A service that fills responses with a mark and checks it in request bodies: `/<api>/<octets>/<how>/<mark>`.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * How the response comes. `early`: before the request body. `cut-…`: aborted in the middle. `none`: the
 * connection ends without a response. `stray`: bytes outside a response follow. `json`: as the member `mark`
 * of an object. `pieces`: the head in two parts, with other connections read in between.
 */
export const HOWS = [
  'sized',
  'chunked',
  'to-end',
  'early',
  'cut-sized',
  'cut-chunked',
  'none',
  'stray',
  'pieces',
] as const;
export type How = (typeof HOWS)[number] | 'json';

export interface MarkedService extends AsyncDisposable {
  readonly url: string;
  /** Bodies that did not contain the mark of their request. */
  readonly foreign: readonly string[];
}

export function filledWith(mark: string, octets: number): string {
  return mark.repeat(Math.ceil(octets / mark.length)).slice(0, octets);
}

const STRAY = '<stray>'.repeat(20);
/** Bytes per write. */
const PIECE = 40_000;
/** Longer than any gateway keeps an idle connection. */
const KEEP_MS = 60_000;

export async function startMarkedService(): Promise<MarkedService> {
  const foreign: string[] = [];
  const server = createServer({ keepAliveTimeout: KEEP_MS }, (request, response) => {
    const [, , octets = '', how = '', mark = ''] = (request.url ?? '').split('/');
    const content = filledWith(mark, Number(octets));
    const give = (): void =>
      answer(response, how as How, how === 'json' ? JSON.stringify({ mark: content }) : content);
    response.setHeader('x-mark', mark);
    // Set by the policy that was in force.
    response.setHeader('x-request-edition', request.headers['x-edition'] ?? '');
    if (how === 'early') give();
    void readBody(request).then(({ body, isWhole }) => {
      if (body !== filledWith(mark, body.length)) foreign.push(`${request.url}: ${body.slice(0, 200)}`);
      if (isWhole && how !== 'early') give();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    foreign,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function readBody(request: IncomingMessage): Promise<{ readonly body: string; readonly isWhole: boolean }> {
  return new Promise((resolve) => {
    let body = '';
    request.setEncoding('latin1');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('error', () => undefined);
    request.once('close', () => resolve({ body, isWhole: request.complete }));
    request.once('end', () => resolve({ body, isWhole: true }));
  });
}

function answer(response: ServerResponse, how: How, body: string): void {
  const { socket } = response;
  if (how === 'none') {
    socket?.destroy();
    return;
  }
  if (how === 'pieces') {
    const head = headOf(response, body.length);
    const place = body.length % head.length;
    socket?.setNoDelay(true);
    socket?.write(head.slice(0, place), 'latin1', () =>
      setImmediate(() => setImmediate(() => socket.end(head.slice(place) + body, 'latin1'))),
    );
    return;
  }
  if (how === 'json') response.setHeader('content-type', 'application/json');
  if (how === 'to-end') {
    response.shouldKeepAlive = false;
    response.removeHeader('transfer-encoding');
  } else if (how !== 'chunked' && how !== 'cut-chunked') response.setHeader('content-length', body.length);
  const isCut = how === 'cut-sized' || how === 'cut-chunked';
  const end = isCut ? Math.floor(body.length / 2) : body.length;
  for (let at = 0; at < end; at += PIECE) response.write(body.slice(at, Math.min(end, at + PIECE)), 'latin1');
  if (isCut) response.write('', () => setImmediate(() => socket?.destroy()));
  else response.end();
  if (how === 'stray') socket?.write(STRAY, 'latin1');
}

function headOf(response: ServerResponse, octets: number): string {
  const lines = response.getHeaderNames().map((name) => `${name}: ${response.getHeader(name)}`);
  return ['HTTP/1.1 200 OK', ...lines, `content-length: ${octets}`, 'connection: close', '', ''].join('\r\n');
}
