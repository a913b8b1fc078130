// Clients that are too slow to be meant: they leave an answer untaken, or send a body that hardly moves.
// Open requests are swept by a timer for each bound: a timer for each request would cost more.
import type { Refusal } from '../../../exchange/directive.ts';
import type { Bounds } from '../../../plan/bounds.ts';
import type { Rate } from '../../../policy/notation.ts';
import { http2StreamOf } from './message.ts';
import type { OpenRequest } from './open-request.ts';

export const SLOW_BODY: Refusal = {
  reason: 'request_malformed',
  status: 408,
  message: 'The request body did not arrive in time.',
};

export interface SlowClients {
  readonly watch: (open: OpenRequest) => void;
  readonly forget: (open: OpenRequest) => void;
  readonly stop: () => void;
}

const NGHTTP2_CANCEL = 8;
const SWEEPS_A_BOUND = 4;
const SWEEPS_A_WINDOW = 10;

/**
 * Cuts an answer of which something waits and nothing is taken for `unreadMs`, and calls `onCut`. A body of which fewer than
 * `bodyRate.units` octets came in a window of waiting for it is given to `onSlowBody`, once; time in which an upstream keeps
 * the gateway from reading does not count. `bodyRate` undefined: any speed will do.
 */
export function createSlowClients(
  { unreadMs, bodyRate }: Pick<Bounds, 'unreadMs' | 'bodyRate'>,
  onCut: () => void,
  onSlowBody: (open: OpenRequest) => void,
): SlowClients {
  const watched = createOpenList<OpenRequest>();

  function lookAtAnswer(open: OpenRequest): void {
    const { waiting, taken } = progressOf(open);
    open.sweepsUnread = waiting > 0 && taken === open.taken ? open.sweepsUnread + 1 : 0;
    open.taken = taken;
    if (open.sweepsUnread < SWEEPS_A_BOUND) return;
    watched.remove(open);
    onCut();
    const stream = http2StreamOf(open.res);
    if (stream === undefined) open.res.destroy();
    else stream.close(NGHTTP2_CANCEL);
  }

  function lookAtBody(open: OpenRequest, { units }: Rate): void {
    const { raw, body } = open;
    if (body === undefined) return;
    if (raw.readableEnded || raw.destroyed) {
      open.body = undefined;
      return;
    }
    if (!body.counts) {
      // Nothing reads it yet: a listener of ours would set it flowing.
      if (raw.readableFlowing === null) return;
      body.counts = true;
      raw.on('data', (chunk: Buffer) => {
        body.bytes += chunk.length;
      });
    }
    // Paused, or not taken: the upstream is the slow one.
    if (raw.readableFlowing !== true || raw.readableLength > 0) return;
    body.waited += 1;
    if (body.waited < SWEEPS_A_WINDOW) return;
    if (body.bytes < units) {
      open.body = undefined;
      onSlowBody(open);
      return;
    }
    body.waited = 0;
    body.bytes = 0;
  }

  const sweeps = [setInterval(() => watched.sweep(lookAtAnswer), unreadMs / SWEEPS_A_BOUND)];
  if (bodyRate !== undefined) {
    const look = (open: OpenRequest): void => lookAtBody(open, bodyRate);
    sweeps.push(setInterval(() => watched.sweep(look), bodyRate.windowMs / SWEEPS_A_WINDOW));
  }
  for (const timer of sweeps) timer.unref();
  return { watch: watched.add, forget: watched.remove, stop: () => sweeps.forEach(clearInterval) };
}

/** An HTTP/1 answer that waits for the one before it has no connection yet: nothing of it waits for the client. */
function progressOf({ res, bytes, inbound }: OpenRequest): { waiting: number; taken: number } {
  const stream = http2StreamOf(res);
  if (stream !== undefined) {
    const waiting = stream.writableLength;
    return { waiting, taken: bytes + (inbound?.bytes ?? 0) - waiting };
  }
  const waiting = res.socket?.writableLength ?? 0;
  return { waiting, taken: (res.socket?.bytesWritten ?? 0) - waiting };
}

interface Listed {
  /** Where it stands in the list; negative while it is not in it. */
  place: number;
}

export interface OpenList<T extends Listed> {
  readonly add: (one: T) => void;
  readonly remove: (one: T) => void;
  /** Calls `look` for each; it may remove what it is called with. */
  readonly sweep: (look: (one: T) => void) => void;
}

/**
 * No Map or Set: V8 links each outgrown table of those to the next one, so that whatever comes and goes survives the
 * collections of young objects.
 */
export function createOpenList<T extends Listed>(): OpenList<T> {
  const all: T[] = [];
  return {
    add(one) {
      one.place = all.length;
      all.push(one);
    },
    remove(one) {
      const { place } = one;
      if (place < 0) return;
      one.place = -1;
      const last = all.pop();
      if (last === undefined || last === one) return;
      all[place] = last;
      last.place = place;
    },
    sweep(look) {
      // Backwards, since the last one takes the place of one that is removed.
      for (let place = all.length - 1; place >= 0; place -= 1) {
        const one = all[place];
        if (one !== undefined) look(one);
      }
    },
  };
}
