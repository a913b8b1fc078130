// Streams a request body to a target through a stream that undici may destroy, and measures it.
import { Duplex, PassThrough } from 'node:stream';
import type { Refusal } from '../../exchange/directive.ts';
import type { Inbound } from '../../plane/port.ts';
import type { StartDeadline } from '../deadlines.ts';

/** Chunk framing far larger than the content (SMG-12). */
export const PADDED: Refusal = {
  reason: 'request_malformed',
  status: 413,
  message: 'The chunk extensions are too large.',
};

export interface BodyEvents {
  /** Called once and asynchronously: enough of the body is here to call a target. */
  readonly onReady: () => void;
  readonly onWhole: () => void;
  /** The body exceeds `most`, its framing is too large, or it ended early. */
  readonly onFailed: (cause: Error | Refusal) => void;
}

export interface MeasuredBody {
  readonly stream: PassThrough;
  /** Bytes so far. For a body with Content-Length that ends early, only its first 16 KiB are sure to be counted. */
  readonly received: () => number;
  /** Call it before the call is aborted, so that the receiver sees an incomplete body. */
  readonly cut: (reason: Error) => void;
  readonly stop: () => void;
}

/** `most`: bytes. Content-Length was checked before, and Node enforces it. */
export function measuredBody(
  inbound: Inbound,
  most: number,
  bodies: AwaitedBodies,
  events: BodyEvents,
): MeasuredBody {
  const { body: source, view } = inbound;
  let sink: Duplex | undefined;
  const body = new PassThrough();
  const pipe = body.pipe.bind(body);
  // undici pipes the body into an HTTP/2 stream, and ends that stream as if complete when a call is aborted.
  body.pipe = (destination, options) => {
    if (destination instanceof Duplex) sink = destination;
    return pipe(destination, options);
  };
  // undici reports errors of a body while it sends it. Other errors come from the gateway itself.
  body.on('error', () => undefined);
  const declared = view.headers.get('content-length');
  const isMeasured = declared === undefined;
  let received = 0;
  let refused = false;
  const arrival = awaitBody(bodies, () => {
    if (!isMeasured) source.off('data', count);
    events.onReady();
  });
  function count(chunk: Buffer): void {
    received += chunk.length;
    if (refused) return;
    const tooLarge = isMeasured && received > most;
    if (tooLarge || inbound.isPadded?.()) {
      refused = true;
      source.unpipe(body);
      events.onFailed(tooLarge ? { reason: 'body_too_large', most } : PADDED);
    } else arrival.received(chunk.length);
  }
  source.on('data', count);
  source.pipe(body, { end: false });
  source.once('end', () => {
    if (!inbound.endedWhole()) {
      events.onFailed(new Error('the client ended its body early'));
      return;
    }
    body.end();
    events.onWhole();
    arrival.whole();
  });
  return {
    stream: body,
    received: () => (isMeasured || !body.writableEnded ? received : Number(declared)),
    cut: (reason) => void sink?.destroy(reason),
    stop: arrival.stop,
  };
}

/** Bytes to wait for. The stream of a waiting body holds about this much more. */
export const ENOUGH_BYTES = 16 * 1_024;
/** Milliseconds after which a slow body is streamed: an upstream may respond before it has all of it. */
export const BODY_WAIT_MS = 250;
/** Concurrent waits: 64 MiB in total. */
export const MAX_AWAITED = 4_096;

export interface AwaitedBodies {
  awaited: number;
  /** Above this number, a body is awaited only until the bytes that came with its head are read. */
  readonly most: number;
  readonly startDeadline: StartDeadline;
}

export interface Arrival {
  readonly received: (octets: number) => void;
  readonly whole: () => void;
  readonly stop: () => void;
}

/** Calls `onReady` once and asynchronously, unless stopped before. */
export function awaitBody(bodies: AwaitedBodies, onReady: () => void): Arrival {
  let octets = 0;
  let over = false;
  bodies.awaited += 1;
  const timeout = bodies.awaited > bodies.most ? undefined : bodies.startDeadline(BODY_WAIT_MS, ready);
  const immediate = timeout === undefined ? setImmediate(ready) : undefined;

  function stop(): void {
    if (over) return;
    over = true;
    bodies.awaited -= 1;
    timeout?.stop();
    clearImmediate(immediate);
  }
  function ready(): void {
    if (over) return;
    stop();
    onReady();
  }
  return {
    received(more) {
      octets += more;
      if (octets >= ENOUGH_BYTES) ready();
    },
    whole: ready,
    stop,
  };
}
