// The progress of a request, for the sweep that finds slow clients.
import type { Watching } from '../../slow-clients.ts';
import { http2StreamOf } from './message.ts';
import type { OpenRequest } from './open-request.ts';

const NGHTTP2_CANCEL = 8;

export const nodeRequests: Pick<Watching<OpenRequest>, 'progress' | 'cut' | 'bodyState'> = {
  progress({ res, bytes, inbound }) {
    const stream = http2StreamOf(res);
    if (stream !== undefined) {
      const waiting = stream.writableLength;
      return { waiting, taken: bytes + (inbound?.bytes ?? 0) - waiting };
    }
    // An HTTP/1 response that waits for the one before it has no socket, so none of it waits for the client.
    const waiting = res.socket?.writableLength ?? 0;
    return { waiting, taken: (res.socket?.bytesWritten ?? 0) - waiting };
  },
  cut({ res }) {
    const stream = http2StreamOf(res);
    if (stream === undefined) res.destroy();
    else stream.close(NGHTTP2_CANCEL);
  },
  bodyState({ raw, arriving }) {
    if (arriving === undefined || raw.readableEnded || raw.destroyed) return 'ended';
    if (!arriving.counts) {
      // A listener here would start the flow of a body that has no consumer yet.
      if (raw.readableFlowing === null) return 'held';
      arriving.counts = true;
      raw.on('data', (chunk: Buffer) => {
        arriving.bytes += chunk.length;
      });
    }
    // Paused, or not consumed.
    return raw.readableFlowing !== true || raw.readableLength > 0 ? 'held' : 'awaited';
  },
};
