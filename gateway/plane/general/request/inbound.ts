// One request as Node holds it while it is being answered.
// Made by inbound-of.ts; upstream/ sees no more of it than stands in port.ts.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { Inbound } from '../../port.ts';

export interface NodeInbound extends Inbound {
  /** HTTP/2 requests arrive through Node's compatibility API, which has the same shape. */
  readonly raw: IncomingMessage;
  readonly res: ServerResponse;
  /** Whether this answer must say `Connection: close`; asked when its head is written (drain). */
  readonly mustClose: () => boolean;
  /** Called before an answer's head that ends the connection; the listener then ignores what follows on it. */
  readonly sealConnection: () => void;
}

/** The stream behind an HTTP/2 answer; undefined on HTTP/1. */
export function http2StreamOf(res: ServerResponse): ServerHttp2Stream | undefined {
  return 'stream' in res ? (res.stream as ServerHttp2Stream) : undefined;
}
