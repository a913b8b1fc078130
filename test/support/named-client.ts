// Sends one request over a new connection with chosen SNI, Host and target. Does not verify certificates.
import { once } from 'node:events';
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { connect } from 'node:http2';
import { request as tlsRequest } from 'node:https';

export type Protocol = 'HTTP/1.1' | 'HTTP/2' | 'plain';

export interface NamedAsk {
  /** For SNI; empty: none is sent. */
  readonly servername?: string;
  /** Host, or `:authority`. */
  readonly host: string;
  /** The target; over HTTP/1 it may be an absolute URL. */
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly from?: string;
}

export interface NamedAnswer {
  readonly status: number;
  /** Header lines as received, names in lower case. */
  readonly lines: readonly (readonly [name: string, value: string])[];
  readonly text: string;
  readonly valuesOf: (name: string) => readonly string[];
}

export function askNamed(port: number, protocol: Protocol, ask: NamedAsk): Promise<NamedAnswer> {
  return protocol === 'HTTP/2' ? overHttp2(port, ask) : overHttp1(port, protocol === 'HTTP/1.1', ask);
}

async function overHttp1(port: number, tls: boolean, ask: NamedAsk): Promise<NamedAnswer> {
  const { servername = '', host, path, method = 'GET', headers = {}, from } = ask;
  const request = (tls ? tlsRequest : plainRequest)({
    host: '127.0.0.1',
    port,
    path,
    method,
    headers: { host, ...headers },
    agent: false,
    ...(tls && { servername, rejectUnauthorized: false }),
    ...(from !== undefined && { localAddress: from }),
  });
  request.end();
  const [response]: IncomingMessage[] = (await once(request, 'response')) as [IncomingMessage];
  if (response === undefined) throw new Error('no answer');
  const text = await textOf(response);
  return answerOf(response.statusCode ?? 0, response.rawHeaders, text);
}

async function overHttp2(port: number, ask: NamedAsk): Promise<NamedAnswer> {
  const { servername = '', host, path, method = 'GET', headers = {}, from } = ask;
  const session = connect(`https://127.0.0.1:${port}`, {
    servername,
    rejectUnauthorized: false,
    ...(from !== undefined && { localAddress: from }),
  });
  // The stream fails with the session and reports the error.
  session.on('error', () => undefined);
  try {
    const stream = session.request({ ':method': method, ':path': path, ':authority': host, ...headers });
    const [head, , raw] = await once(stream, 'response');
    const text = await textOf(stream);
    return answerOf(head[':status'], (raw as readonly unknown[]).map(String), text);
  } finally {
    session.destroy();
  }
}

async function textOf(from: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of from) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function answerOf(status: number, raw: readonly string[], text: string): NamedAnswer {
  const lines = Array.from(
    { length: raw.length / 2 },
    (_, index) => [(raw[index * 2] ?? '').toLowerCase(), raw[index * 2 + 1] ?? ''] as const,
  );
  return {
    status,
    lines,
    text,
    valuesOf: (name) => lines.filter(([each]) => each === name).map(([, value]) => value),
  };
}
