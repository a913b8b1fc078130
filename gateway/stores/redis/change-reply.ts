// Reads what the script of the changes answers.
// Part of shared-state.ts.

export interface Changes {
  /** The last entry of the stream that this answer counts. */
  readonly seen: string;
  /** Keys of the pins that were moved, or that any may have been. */
  readonly pins: readonly string[] | 'all';
  /** Keys where there was no pin before. */
  readonly claimed: readonly string[];
  /** API keys that were changed; told of one by one, for where `pins` is `all` every key may have been. */
  readonly keys: readonly string[];
  /** Every override there is; undefined when none has changed. */
  readonly overrides: readonly string[] | undefined;
  /** The name of the data, and the first entry of its stream; undefined where the last entry seen is still there. */
  readonly data: { readonly origin: string; readonly oldest: string } | undefined;
}

/** @throws TypeError for an answer of another shape: a mistake in this program or another hand in its keys */
export function readChanges(reply: unknown): Changes {
  if (!Array.isArray(reply))
    throw new TypeError('the script of the changes answered something else than a list');
  const [kind, seen, ...rest]: readonly unknown[] = reply;
  if (kind === 'all') {
    const [overrides, origin, oldest] = rest;
    return {
      seen: String(seen),
      pins: 'all',
      claimed: [],
      keys: [],
      overrides: textsOf(overrides),
      data: { origin: String(origin), oldest: String(oldest) },
    };
  }
  const [pins, overrides, claimed, keys] = rest;
  return {
    seen: String(seen),
    pins: textsOf(pins),
    claimed: textsOf(claimed),
    keys: textsOf(keys),
    overrides: overrides === null ? undefined : textsOf(overrides),
    data: undefined,
  };
}

/** Whether one entry of a stream stands before another: `<milliseconds>-<number>`. */
export function isEarlier(entry: string, other: string): boolean {
  const [ms = 0, number = 0] = entry.split('-').map(Number);
  const [otherMs = 0, otherNumber = 0] = other.split('-').map(Number);
  return ms < otherMs || (ms === otherMs && number < otherNumber);
}

/** @throws TypeError for what is no list of texts */
export function textsOf(reply: unknown): readonly string[] {
  if (!Array.isArray(reply) || !reply.every((text) => typeof text === 'string'))
    throw new TypeError('a script answered something else than texts');
  return reply;
}
