// Request bodies that come too slowly to be meant: they are refused while the gateway waits for their next octet.
// Fed by request-life.ts; time in which an upstream keeps the gateway from reading does not count.
import type { IncomingMessage } from 'node:http';
import type { Refusal } from '../../../exchange/directive.ts';
import type { Rate } from '../../../policy/notation.ts';
import { createOpenList, type Listed } from './open-list.ts';

export const SLOW_BODY: Refusal = {
  reason: 'request_malformed',
  status: 408,
  message: 'The request body did not arrive in time.',
};

export interface SlowBodies<T> {
  /** `of` comes back to `onSlow` when its body is too slow. */
  readonly watch: (raw: IncomingMessage, of: T) => WatchedBody<T>;
  readonly forget: (body: WatchedBody<T>) => void;
  readonly stop: () => void;
}

export interface WatchedBody<T> extends Listed {
  readonly raw: IncomingMessage;
  readonly of: T;
  /** Sweeps in which the body was waited for, and what came in them. */
  waited: number;
  bytes: number;
  counts: boolean;
}

const SWEEPS_A_WINDOW = 10;

/**
 * A body of which fewer than `rate.units` octets came in a window of waiting for it is given to `onSlow`, once.
 * `rate` undefined: any speed will do.
 */
export function createSlowBodies<T>(rate: Rate | undefined, onSlow: (of: T) => void): SlowBodies<T> {
  const watched = createOpenList<WatchedBody<T>>();

  function look(one: WatchedBody<T>, { units }: Rate): void {
    const { raw } = one;
    if (raw.readableEnded || raw.destroyed) {
      watched.remove(one);
      return;
    }
    if (!one.counts) {
      // Nobody reads it yet: a listener of ours would set it flowing.
      if (raw.readableFlowing === null) return;
      one.counts = true;
      raw.on('data', (chunk: Buffer) => {
        one.bytes += chunk.length;
      });
    }
    // Paused, or not taken: the upstream is the slow one.
    if (raw.readableFlowing !== true || raw.readableLength > 0) return;
    one.waited += 1;
    if (one.waited < SWEEPS_A_WINDOW) return;
    if (one.bytes < units) {
      watched.remove(one);
      onSlow(one.of);
      return;
    }
    one.waited = 0;
    one.bytes = 0;
  }

  const timer =
    rate &&
    setInterval(() => watched.sweep((one) => look(one, rate)), rate.windowMs / SWEEPS_A_WINDOW).unref();
  return {
    watch(raw, of) {
      const one = { raw, of, waited: 0, bytes: 0, counts: false, place: -1 };
      if (rate !== undefined) watched.add(one);
      return one;
    },
    forget: watched.remove,
    stop: () => clearInterval(timer),
  };
}
