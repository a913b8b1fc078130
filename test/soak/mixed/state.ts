// The present state of the soak, by which traffic knows the right responses; only faults.ts writes it.

export interface State {
  /** The oldest edition that a response may have, and the newest. */
  edition: { least: number; newest: number };
  /** `changes` counts each fault of the fickle upstream and each recovery. */
  fickle: { well: boolean; changes: number };
  stopping: boolean;
  /**
   * Set at half time: from then on every token has been sent before. The gateway limits its caches of
   * tokens and consumers by number. Without this, a cache that still fills looks like a leak.
   */
  familiar: boolean;
  /** The tokens sent so far, by kind of traffic. */
  readonly tokens: Map<string, string[]>;
}

export function freshState(): State {
  return {
    edition: { least: 1, newest: 1 },
    fickle: { well: true, changes: 0 },
    stopping: false,
    familiar: false,
    tokens: new Map(),
  };
}

/** A response other than the expected one. */
export class WrongAnswer extends Error {}

/** @throws WrongAnswer unless `holds` */
export function must(holds: boolean, otherwise: () => string): asserts holds {
  if (!holds) throw new WrongAnswer(otherwise());
}
