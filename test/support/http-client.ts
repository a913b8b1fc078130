// The HTTP/1.1 and HTTP/2 clients of the journeys, with one interface; they do not verify certificates.
import { Agent, type ClientRequest, request as plainRequest } from 'node:http';
import { type ClientHttp2Stream, connect } from 'node:http2';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { createSecureContext } from 'node:tls';

export type Fields = Readonly<Record<string, string | string[]>>;

export interface Ask {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Fields;
  readonly body?: string | Uint8Array | Readable;
}

export interface Answer {
  readonly status: number;
  /** By lower-case name; repeated lines joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Header lines in order, names in lower case. */
  readonly lines: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
  /** False if the connection or stream broke before the end of the body. */
  readonly complete: boolean;
}

export interface Client extends AsyncDisposable {
  /** Rejects if no response comes. */
  readonly ask: (ask: Ask) => Promise<Answer>;
  readonly begin: (ask: Ask) => Leaving;
}

/** A request that its client can abort. */
export interface Leaving {
  /** Resolves with the first bytes of the body. */
  readonly firstBytes: Promise<unknown>;
  readonly leave: () => void;
}

export interface ClientPair {
  readonly cert: string;
  readonly key: string;
}

export type Connect = (port: number) => Client;

/** Shared by all connections without a client certificate, so that Node does not create one for each. */
const withoutCertificate = createSecureContext();

/** Keeps connections open between requests. */
export function overHttp1(
  port: number,
  // Without SNI by default, so that an unknown Host reaches the gateway instead of failing the handshake.
  {
    tls = true,
    servername = '',
    pair,
  }: { readonly tls?: boolean; readonly servername?: string; readonly pair?: ClientPair } = {},
): Client {
  const secureContext = pair === undefined ? withoutCertificate : createSecureContext(pair);
  const options = { host: '127.0.0.1', port, rejectUnauthorized: false, servername, secureContext };
  const agent = tls ? new TlsAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
  const send = ({ path, method = 'GET', headers = {}, body }: Ask): ClientRequest => {
    const request = (tls ? tlsRequest : plainRequest)({ ...options, agent, path, method, headers });
    request.on('error', () => undefined);
    write(request, body);
    return request;
  };
  return {
    ask: (ask) => {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const request = send(ask);
      request.once('error', reject);
      request.once('response', (response) => {
        request.off('error', reject);
        collect(response).then(({ body, complete }) => {
          resolve(
            answerOf(response.statusCode ?? 0, response.rawHeaders, body, complete && response.complete),
          );
        }, reject);
      });
      return promise;
    },
    begin: (ask) => {
      const request = send(ask);
      const { promise, resolve } = Promise.withResolvers<unknown>();
      request.once('response', (response) => response.on('error', () => undefined).once('data', resolve));
      return { firstBytes: promise, leave: () => request.destroy() };
    },
    [Symbol.asyncDispose]: async () => agent.destroy(),
  };
}

/** One connection for all requests. */
export function overHttp2(
  port: number,
  { servername = '', pair }: { readonly servername?: string; readonly pair?: ClientPair } = {},
): Client {
  const secureContext = pair === undefined ? withoutCertificate : createSecureContext(pair);
  const session = connect(`https://127.0.0.1:${port}`, {
    rejectUnauthorized: false,
    servername,
    secureContext,
  });
  session.on('error', () => undefined);
  const send = ({ path, method = 'GET', headers = {}, body }: Ask): ClientHttp2Stream => {
    const { host, ...fields } = headers;
    const authority = typeof host === 'string' ? { ':authority': host } : {};
    const stream = session.request(
      { ':method': method, ':path': path, ...authority, ...fields },
      { endStream: body === undefined },
    );
    stream.on('error', () => undefined);
    if (body !== undefined) write(stream, body);
    return stream;
  };
  return {
    ask: (ask) => {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const stream = send(ask);
      stream.once('error', reject);
      stream.once('response', (headers, _flags, raw: unknown) => {
        stream.off('error', reject);
        const lines = (raw as readonly string[]).map(String);
        // Node emits `end` without an error code for a stream whose session or socket is destroyed here.
        let whole = false;
        stream.once('end', () => {
          whole = !stream.destroyed;
        });
        collect(stream).then(({ body, complete }) => {
          resolve(answerOf(headers[':status'] ?? 0, lines, body, complete && whole && stream.rstCode === 0));
        }, reject);
      });
      return promise;
    },
    begin: (ask) => {
      const stream = send(ask);
      // Node's `close(code)` would end the request properly before the reset.
      const { promise, resolve } = Promise.withResolvers<unknown>();
      stream.once('data', resolve);
      return { firstBytes: promise, leave: () => stream.destroy(new Error('the client leaves')) };
    },
    [Symbol.asyncDispose]: async () => session.destroy(),
  };
}

function write(to: NodeJS.WritableStream, body: Ask['body']): void {
  if (body === undefined) to.end();
  else if (typeof body === 'string' || body instanceof Uint8Array) to.end(body);
  else body.pipe(to);
}

/** A broken body is a result and not an error. */
function collect(from: Readable): Promise<{ body: Buffer; complete: boolean }> {
  const chunks: Buffer[] = [];
  from.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    const end = (complete: boolean) => resolve({ body: Buffer.concat(chunks), complete });
    from.once('end', () => end(true));
    from.once('error', () => end(false));
    from.once('close', () => end(false));
  });
}

function answerOf(status: number, raw: readonly string[], body: Buffer, complete: boolean): Answer {
  const lines: [string, string][] = [];
  const headers: Record<string, string> = {};
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    lines.push([name, value]);
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return {
    status,
    headers,
    lines,
    body,
    complete,
    get text() {
      return body.toString('utf8');
    },
    get json() {
      return JSON.parse(body.toString('utf8'));
    },
  };
}
