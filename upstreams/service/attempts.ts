// Counts tries, so that nobody goes on and on: at a password or a secret of a client (OAU-9), at deliveries asked for.
// In process: the gateway's limits hold for all that a caller does, these for one thing.

export interface Attempts {
  /** Counts one try; a number when there were too many: seconds until the next is looked at. */
  readonly take: (key: string) => number | undefined;
  /** What was tried was right: the count begins again. */
  readonly forgive: (key: string) => void;
}

interface Count {
  readonly since: number;
  readonly tries: number;
}

/** Most keys that are remembered; the oldest goes. */
const MOST_KEYS = 10_000;

/** `most` tries in `windowMs`; `now` is epoch milliseconds. */
export function createAttempts(options: {
  readonly most: number;
  readonly windowMs: number;
  readonly now: () => number;
}): Attempts {
  const { most, windowMs, now } = options;
  const counts = new Map<string, Count>();
  return {
    take(key) {
      const at = now();
      const found = counts.get(key);
      const running = found !== undefined && at - found.since < windowMs ? found : undefined;
      if (running !== undefined && running.tries >= most) {
        return Math.max(1, Math.ceil((running.since + windowMs - at) / 1000));
      }
      counts.delete(key);
      counts.set(key, { since: running?.since ?? at, tries: (running?.tries ?? 0) + 1 });
      const [oldest] = counts.keys();
      if (counts.size > MOST_KEYS && oldest !== undefined) counts.delete(oldest);
      return undefined;
    },
    forgive: (key) => {
      counts.delete(key);
    },
  };
}
