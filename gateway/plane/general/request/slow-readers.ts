// Answers that their clients do not take: each would keep a connection, and what is written to it, for ever.
// Fed by request-life.ts, swept by its own timer.
import type { ServerResponse } from 'node:http';
import { http2StreamOf } from './message.ts';
import { createOpenList, type Listed } from './open-list.ts';

export interface SlowReaders {
  /** `handed`: octets of the body written to `res` so far. */
  readonly watch: (res: ServerResponse, handed: () => number) => WatchedReader;
  readonly forget: (reader: WatchedReader) => void;
  readonly stop: () => void;
}

export interface WatchedReader extends Listed {
  readonly res: ServerResponse;
  readonly handed: () => number;
  /** Octets that the client's side has taken, as of the last sweep. */
  taken: number;
  /** Sweeps in which something waited and nothing was taken. */
  still: number;
}

const NGHTTP2_CANCEL = 8;
const SWEEPS_A_BOUND = 4;

/** An answer of which something waits and nothing is taken for `unreadMs` milliseconds is cut. */
export function createSlowReaders(unreadMs: number, onCut: () => void): SlowReaders {
  const watched = createOpenList<WatchedReader>();

  function look(one: WatchedReader): void {
    const { waiting, taken } = progressOf(one.res, one.handed);
    one.still = waiting > 0 && taken === one.taken ? one.still + 1 : 0;
    one.taken = taken;
    if (one.still < SWEEPS_A_BOUND) return;
    watched.remove(one);
    onCut();
    cut(one.res);
  }

  const timer = setInterval(() => watched.sweep(look), unreadMs / SWEEPS_A_BOUND);
  timer.unref();
  return {
    watch(res, handed) {
      const one = { res, handed, taken: 0, still: 0, place: -1 };
      watched.add(one);
      return one;
    },
    forget: watched.remove,
    stop: () => clearInterval(timer),
  };
}

/** An HTTP/1 answer that waits for the one before it has no connection yet: nothing of it waits for the client. */
function progressOf(res: ServerResponse, handed: () => number): { waiting: number; taken: number } {
  const stream = http2StreamOf(res);
  if (stream !== undefined)
    return { waiting: stream.writableLength, taken: handed() - stream.writableLength };
  const { socket } = res;
  const waiting = socket?.writableLength ?? 0;
  return { waiting, taken: (socket?.bytesWritten ?? 0) - waiting };
}

function cut(res: ServerResponse): void {
  const stream = http2StreamOf(res);
  if (stream === undefined) res.destroy();
  else stream.close(NGHTTP2_CANCEL);
}
