// Whether an upstream's answer over HTTP/2 has come to its end: undici takes a reset for one, of some codes.
// Asked by upstream-call.ts, which starts to watch just before undici opens the stream of a request.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientHttp2Stream } from 'node:http2';

const CREATED = 'http2.client.stream.created';

/** Call in the turn in which the stream is opened. The result tells whether that stream ended without END_STREAM. */
export function watchNextStream(): () => boolean {
  let cut: boolean | undefined;
  const onCreated = (message: unknown): void => {
    stop();
    const { stream } = message as { readonly stream: ClientHttp2Stream };
    const push = stream.push.bind(stream);
    cut = true;
    // Node ends the readable side at END_STREAM; after a reset it does as well, and the stream counts as closed by then.
    stream.push = (chunk, encoding) => {
      if (chunk === null && !stream.closed) cut = false;
      return push(chunk, encoding);
    };
  };
  const stop = (): void => void unsubscribe(CREATED, onCreated);
  subscribe(CREATED, onCreated);
  queueMicrotask(stop);
  return () => cut === true;
}
