// Remembers that Redis is away, so that only the request that found out has waited for it, or that it keeps nothing.
// link.ts trips one on a failure and asks it before every command, and another on a refusal that meets every command.

export interface Breaker {
  /** False while Redis is known to be away: commands are then refused without being sent. */
  readonly closed: boolean;
  readonly trip: () => void;
  readonly reset: () => void;
  /** Ends probing and reporting, for good. */
  readonly stop: () => void;
}

/**
 * Starts open. While open, `probe` is tried every `pauseMs` and its first success closes the breaker: recovery
 * costs no request its time. `onState` is called once per change.
 */
export function createBreaker(options: {
  readonly pauseMs: number;
  readonly probe: () => Promise<unknown>;
  readonly onState: (up: boolean) => void;
}): Breaker {
  let closed = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  const set = (up: boolean): void => {
    if (stopped || closed === up) return;
    closed = up;
    options.onState(up);
  };
  const reset = (): void => {
    clearTimeout(timer);
    timer = undefined;
    set(true);
  };
  const probeLater = (): void => {
    if (stopped || timer !== undefined) return;
    timer = setTimeout(() => {
      options.probe().then(reset, () => {
        timer = undefined;
        probeLater();
      });
    }, options.pauseMs);
    timer.unref();
  };

  return {
    get closed() {
      return closed;
    },
    trip: () => {
      set(false);
      probeLater();
    },
    reset,
    stop: () => {
      stopped = true;
      closed = false;
      clearTimeout(timer);
    },
  };
}
