// Opens HTTP/2 sessions with a gateway in front of a raw upstream, and closes them at the end of a test.
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import {
  type Answering,
  type AnsweringBody,
  type ForEachTest,
  forEachTest,
  type Pair,
} from './gateway-pair.ts';
import type { GatewayOptions } from './gateway-under-test.ts';

export interface SessionForEachTest extends Pick<ForEachTest, 'defer'> {
  readonly open: (
    answer?: Answering,
    options?: GatewayOptions,
    onBody?: AnsweringBody,
  ) => Promise<Pair & { readonly session: ClientHttp2Session }>;
}

/** Call once, at the top of a test file. */
export function sessionForEachTest(): SessionForEachTest {
  const { defer, pair } = forEachTest();
  return {
    defer,
    open: async (answer, options = {}, onBody) => {
      const { upstream, gateway } = await pair(answer, { tls: true, ...options }, onBody);
      const session = connect(`https://127.0.0.1:${gateway.port}`, { rejectUnauthorized: false });
      session.on('error', () => undefined);
      defer(async () => session.destroy());
      return { upstream, gateway, session };
    },
  };
}

export interface Seen {
  readonly status: number | undefined;
  readonly headers: Record<string, unknown>;
  readonly body: string;
  /** RST_STREAM code. Undefined if the stream ended without an error. */
  readonly reset: number | undefined;
}

export function read(stream: ClientHttp2Stream): Promise<Seen> {
  return new Promise((resolve) => {
    let headers: Record<string, unknown> = {};
    let body = '';
    stream.setEncoding('utf8');
    stream.on('response', (received) => {
      headers = { ...received };
    });
    stream.on('data', (chunk: string) => {
      body += chunk;
    });
    // `close` follows, and has the code.
    stream.on('error', () => undefined);
    stream.on('close', () => {
      const status = headers[':status'];
      const reset = stream.rstCode === constants.NGHTTP2_NO_ERROR ? undefined : stream.rstCode;
      resolve({ status: typeof status === 'number' ? status : undefined, headers, body, reset });
    });
  });
}

export const send = (session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}): Promise<Seen> =>
  read(session.request({ ':path': '/echo', ':authority': 'api.example.com', ...headers }));
