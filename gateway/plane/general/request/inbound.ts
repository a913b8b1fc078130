// One request as the transport holds it while it is being answered.
// Made by request-life.ts, used to stream the two bodies; the exchange never sees it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import type { RequestView } from '../../../exchange/request-view.ts';

export interface Inbound {
  /** HTTP/2 requests arrive through Node's compatibility API, which has the same shape. */
  readonly raw: IncomingMessage;
  readonly res: ServerResponse;
  readonly view: RequestView;
  /** What X-Forwarded-For becomes: the trusted part of the chain and the peer (XFF-2). */
  readonly forwardedFor: string;
  /** What X-Forwarded-Host becomes: the judged authority with its port (XFF-4). */
  readonly forwardedHost: string;
  /** What Forwarded becomes; undefined: none is sent (XFF-3). */
  readonly forwarded: string | undefined;
  /** True when the message has framing, whatever its method (SMG-18). */
  readonly hasBody: boolean;
  /** Whether the framing of its chunks is out of all proportion to what is in them (SMG-12); absent where there are none. */
  readonly isPadded: (() => boolean) | undefined;
  /** Whether this answer must say `Connection: close`; asked when its head is written (drain). */
  readonly mustClose: () => boolean;
  /** Body bytes handed to the client so far. */
  bytes: number;
  /** True once the client has left before its answer was complete. */
  gone: boolean;
  /** Called once when the client leaves; the forwarder cancels the upstream here (FWD-17). */
  onGone: (() => void) | undefined;
  /** Called before an answer's head that ends the connection; the listener then ignores what follows on it. */
  readonly sealConnection: () => void;
}

/** The stream behind an HTTP/2 answer; undefined on HTTP/1. */
export function http2StreamOf(res: ServerResponse): ServerHttp2Stream | undefined {
  return 'stream' in res ? (res.stream as ServerHttp2Stream) : undefined;
}

/** Whether a body that has ended has ended whole: Node also ends the one of an HTTP/2 stream that was reset. */
export function endedWhole({ raw, res }: Inbound): boolean {
  const stream = http2StreamOf(res);
  return stream === undefined ? raw.complete : !stream.closed && !stream.aborted;
}
