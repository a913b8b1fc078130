// Reads what the script of the changes answers.
// Part of shared-state.ts.

export interface Changes {
  /** The last entry of the stream that this answer counts. */
  readonly seen: string;
  /** Keys of the pins that were moved, or that any may have been. */
  readonly pins: readonly string[] | 'all';
  /** Keys where there was no pin before. */
  readonly claimed: readonly string[];
  /** Every override there is; undefined when none has changed. */
  readonly overrides: readonly string[] | undefined;
}

/** @throws TypeError for an answer of another shape: a mistake in this program or another hand in its keys */
export function readChanges(reply: unknown): Changes {
  if (!Array.isArray(reply))
    throw new TypeError('the script of the changes answered something else than a list');
  const [kind, seen, ...rest]: readonly unknown[] = reply;
  if (kind === 'all') return { seen: String(seen), pins: 'all', claimed: [], overrides: textsOf(rest[0]) };
  const [pins, overrides, claimed] = rest;
  return {
    seen: String(seen),
    pins: textsOf(pins),
    claimed: textsOf(claimed),
    overrides: overrides === null ? undefined : textsOf(overrides),
  };
}

/** @throws TypeError for what is no list of texts */
export function textsOf(reply: unknown): readonly string[] {
  if (!Array.isArray(reply) || !reply.every((text) => typeof text === 'string'))
    throw new TypeError('a script answered something else than texts');
  return reply;
}
