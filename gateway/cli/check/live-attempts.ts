// Runs the network attempts of `check --live` in parallel, each with a timeout and all with a common one.

export interface LiveCheckBounds {
  readonly signal: AbortSignal;
  readonly seconds: number;
}

/** Resolves with the problem, or undefined. Never rejects. */
export type LiveAttempt = (bounds: LiveCheckBounds) => Promise<string | undefined>;

const AT_ONCE = 64;
const ONE_SECONDS = 3;
const ALL_SECONDS = 10;
const NOT_TRIED = `not tried: ${ALL_SECONDS} seconds were up`;

/** Results by key, after little more than ten seconds at most. */
export async function tryAll(
  tries: ReadonlyMap<string, LiveAttempt>,
): Promise<ReadonlyMap<string, string | undefined>> {
  const outcomes = new Map<string, string | undefined>();
  const all = AbortSignal.timeout(ALL_SECONDS * 1_000);
  const waiting = tries.entries();
  const work = async (): Promise<void> => {
    // All workers share one iterator, so each entry is taken once.
    for (const [key, attempt] of waiting) {
      const signal = AbortSignal.any([all, AbortSignal.timeout(ONE_SECONDS * 1_000)]);
      outcomes.set(key, all.aborted ? NOT_TRIED : await attempt({ signal, seconds: ONE_SECONDS }));
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, tries.size) }, work));
  return outcomes;
}
