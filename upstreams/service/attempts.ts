// Limits attempts per key in this process: at a password or a client secret (OAU-9), or at test deliveries.

export interface Attempts {
  /** Counts one attempt. Returns the seconds until the next one is allowed, if there were too many. */
  readonly take: (key: string) => number | undefined;
  readonly reset: (key: string) => void;
}

interface Count {
  readonly since: number;
  readonly tries: number;
}

/** Keys that are kept; the oldest is evicted. */
const MAX_KEYS = 10_000;

/** `most` attempts in `windowMs`; `now` is epoch milliseconds. */
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
      if (counts.size > MAX_KEYS && oldest !== undefined) counts.delete(oldest);
      return undefined;
    },
    reset: (key) => {
      counts.delete(key);
    },
  };
}
