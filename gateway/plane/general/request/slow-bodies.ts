// Request bodies that come too slowly to be meant: they are refused while the gateway waits for their next octet.
// Fed by request-life.ts; time in which an upstream keeps the gateway from reading does not count.
import type { IncomingMessage } from 'node:http';
import type { Refusal } from '../../../exchange/directive.ts';
import type { Rate } from '../../../policy/notation.ts';

export const SLOW_BODY: Refusal = {
  reason: 'request_malformed',
  status: 408,
  message: 'The request body did not arrive in time.',
};

export interface SlowBodies<T> {
  /** `of` comes back to `onSlow` when its body is too slow. */
  readonly watch: (raw: IncomingMessage, of: T) => void;
  readonly forget: (raw: IncomingMessage) => void;
  readonly stop: () => void;
}

interface Watched<T> {
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
  const watched = new Map<IncomingMessage, Watched<T>>();
  if (rate === undefined) return { watch: () => undefined, forget: () => undefined, stop: () => undefined };

  function look(raw: IncomingMessage, one: Watched<T>, { units }: Rate): void {
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
      watched.delete(raw);
      onSlow(one.of);
      return;
    }
    one.waited = 0;
    one.bytes = 0;
  }

  const timer = setInterval(() => {
    for (const [raw, one] of watched) {
      if (raw.readableEnded || raw.destroyed) watched.delete(raw);
      else look(raw, one, rate);
    }
  }, rate.windowMs / SWEEPS_A_WINDOW).unref();
  return {
    watch: (raw, of) => void watched.set(raw, { of, waited: 0, bytes: 0, counts: false }),
    forget: (raw) => void watched.delete(raw),
    stop: () => clearInterval(timer),
  };
}
