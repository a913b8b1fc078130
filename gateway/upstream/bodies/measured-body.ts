// A request's body on its way to a target: a stream of ours behind the client's, which undici may destroy, counted.
import { Duplex, PassThrough } from 'node:stream';
import type { Refusal } from '../../exchange/directive.ts';
import type { Inbound } from '../../plane/port.ts';
import type { StartDeadline } from '../deadlines.ts';

/** What is around its octets is out of all proportion to them (SMG-12). */
export const PADDED: Refusal = {
  reason: 'request_malformed',
  status: 413,
  message: 'The chunk extensions are too large.',
};

export interface BodyEvents {
  /** Comes once, and later than the body is made: enough of it is here for a target to be asked. */
  readonly onReady: () => void;
  readonly onWhole: () => void;
  /** More came than `most`, its framing is out of all proportion, or its end did not come with all of it. */
  readonly onFailed: (cause: Error | Refusal) => void;
}

export interface MeasuredBody {
  readonly stream: PassThrough;
  /** Bytes so far; of a body with Content-Length that breaks off, those of its first 16 KiB at least. */
  readonly received: () => number;
  /** To be called before the call is aborted, so that the receiver learns that the body is not whole. */
  readonly cut: (reason: Error) => void;
  readonly stop: () => void;
}

/** `most`: bytes; a Content-Length was judged before, and Node holds the client to it. */
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
  // undici pipes it into an HTTP/2 stream, and ends that stream like a whole one when a call is given up.
  body.pipe = (destination, options) => {
    if (destination instanceof Duplex) sink = destination;
    return pipe(destination, options);
  };
  // undici reports the errors of a body it sends; before and after that they are of our own making.
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
      events.onFailed(new Error('the client cut its body'));
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

/** Octets that are waited for; what waits stands in a stream that takes about this much more. */
export const ENOUGH = 16 * 1_024;
/** Then a body that trickles is taken for one: an upstream may want to answer before it has all of it, milliseconds. */
export const PATIENCE_MS = 250;
/** Bodies that are waited for side by side: 64 MiB. */
export const MOST_AWAITED = 4_096;

/** What all requests of a process wait for together. */
export interface AwaitedBodies {
  awaited: number;
  /** With more than this many, each is waited for only until what came with its head has been read. */
  readonly most: number;
  readonly startDeadline: StartDeadline;
}

export interface Arrival {
  readonly received: (octets: number) => void;
  readonly whole: () => void;
  /** Cancels the wait. */
  readonly stop: () => void;
}

/** `onReady` comes once, and not before this has returned, unless it was stopped before. */
export function awaitBody(bodies: AwaitedBodies, onReady: () => void): Arrival {
  let octets = 0;
  let over = false;
  bodies.awaited += 1;
  const patience = bodies.awaited > bodies.most ? undefined : bodies.startDeadline(PATIENCE_MS, ready);
  const immediate = patience === undefined ? setImmediate(ready) : undefined;

  function stop(): void {
    if (over) return;
    over = true;
    bodies.awaited -= 1;
    patience?.stop();
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
      if (octets >= ENOUGH) ready();
    },
    whole: ready,
    stop,
  };
}
