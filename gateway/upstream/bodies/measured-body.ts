// A request's body on its way to a target: a stream of ours behind the client's, counted as far as somebody has to know.
// Made by attempts.ts; undici may destroy it without ending the client's connection.
import { Duplex, PassThrough } from 'node:stream';
import type { Refusal } from '../../exchange/directive.ts';
import type { Inbound } from '../../plane/port.ts';
import { type AwaitedBodies, awaitBody } from './body-arrival.ts';

/** What is around its octets is out of all proportion to them (SMG-12). */
export const PADDED: Refusal = {
  reason: 'request_malformed',
  status: 413,
  message: 'The chunk extensions are too large.',
};

export interface BodyEvents {
  /** Comes once, and later than the body is made: enough of it is here for a target to be asked. */
  readonly onReady: () => void;
  /** All of it has come. */
  readonly onWhole: () => void;
  /** Its end did not come with all of it: nobody may take it for whole. */
  readonly onBroken: () => void;
  /** More came than `most`; what is beyond has not been handed on. */
  readonly onTooLarge: () => void;
  /** What is around its octets is out of all proportion to them. */
  readonly onPadded: () => void;
}

export interface MeasuredBody {
  readonly stream: PassThrough;
  /** Call before the call is given up: whoever receives the body learns that it is not whole. */
  readonly cut: (reason: Error) => void;
  /** From now on nothing is waited for. */
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
  const isMeasured = view.headers.get('content-length') === undefined;
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
      if (tooLarge) events.onTooLarge();
      else events.onPadded();
    } else arrival.received(chunk.length);
  }
  source.on('data', count);
  source.pipe(body, { end: false });
  source.once('end', () => {
    if (!inbound.endedWhole()) {
      events.onBroken();
      return;
    }
    body.end();
    events.onWhole();
    arrival.whole();
  });
  return { stream: body, cut: (reason) => void sink?.destroy(reason), stop: arrival.stop };
}
