// Answers that are complete here and that their clients do not take: each would keep a connection and its last bytes for ever.
// Fed by request-life.ts, swept by its own timer; answers that still come from an upstream have its deadlines instead.
import type { ServerResponse } from 'node:http';
import { http2StreamOf } from '../forward/inbound.ts';

export interface SlowReaders {
  readonly watch: (res: ServerResponse) => void;
  readonly forget: (res: ServerResponse) => void;
  readonly stop: () => void;
}

const NGHTTP2_CANCEL = 8;

/** An answer of which no byte moves between two sweeps, `everyMs` milliseconds apart, is cut. */
export function createSlowReaders(everyMs: number): SlowReaders {
  const pendingAtLastSweep = new Map<ServerResponse, number | undefined>();
  const timer = setInterval(() => {
    for (const [res, before] of pendingAtLastSweep) {
      const pending = pendingBytes(res);
      if (pending !== undefined && pending === before) cut(res);
      else pendingAtLastSweep.set(res, pending);
    }
  }, everyMs);
  timer.unref();
  return {
    watch: (res) => void pendingAtLastSweep.set(res, undefined),
    forget: (res) => void pendingAtLastSweep.delete(res),
    stop: () => clearInterval(timer),
  };
}

/** Undefined while more may be written, and while an HTTP/1 answer waits for the one before it. */
function pendingBytes(res: ServerResponse): number | undefined {
  if (!res.writableEnded) return undefined;
  const stream = http2StreamOf(res);
  if (stream !== undefined) return stream.writableLength;
  return res.socket?.writableLength;
}

function cut(res: ServerResponse): void {
  const stream = http2StreamOf(res);
  if (stream === undefined) res.destroy();
  else stream.close(NGHTTP2_CANCEL);
}
