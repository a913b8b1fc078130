// Many tries side by side, each bounded in time and all of them together: what `check --live` does with the network.

export interface LiveCheckBounds {
  readonly signal: AbortSignal;
  readonly seconds: number;
}

/** What is wrong, in words; undefined when nothing is. Never rejects. */
export type LiveAttempt = (bounds: LiveCheckBounds) => Promise<string | undefined>;

const AT_ONCE = 64;
const ONE_SECONDS = 3;
const ALL_SECONDS = 10;
const NOT_TRIED = `not tried: ${ALL_SECONDS} seconds were up`;

/** The outcome of each try by its key; takes at most ten seconds and a little. */
export async function tryAll(
  tries: ReadonlyMap<string, LiveAttempt>,
): Promise<ReadonlyMap<string, string | undefined>> {
  const outcomes = new Map<string, string | undefined>();
  const all = AbortSignal.timeout(ALL_SECONDS * 1_000);
  const waiting = tries.entries();
  const work = async (): Promise<void> => {
    // One iterator for all workers: each entry is taken once.
    for (const [key, attempt] of waiting) {
      const signal = AbortSignal.any([all, AbortSignal.timeout(ONE_SECONDS * 1_000)]);
      outcomes.set(key, all.aborted ? NOT_TRIED : await attempt({ signal, seconds: ONE_SECONDS }));
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, tries.size) }, work));
  return outcomes;
}
