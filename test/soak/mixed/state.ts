// What is true of the house at the moment, so that traffic knows which answers are right.
// Written by faults.ts alone, read by every kind of traffic.

export interface State {
  /** The edition every answer must have reached, and the newest that one may have. */
  edition: { least: number; newest: number };
  /** Counts each time the fickle upstream is harmed, and each time it is known to be well again. */
  fickle: { well: boolean; changes: number };
  stopping: boolean;
  /**
   * Set at half time: from then on every token has been sent before. What the gateway keeps of tokens and their consumers is
   * bounded by number, so that without it no trend would tell such a cache that fills from a leak.
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

/** An answer that is not what the request must get. */
export class WrongAnswer extends Error {}

/** @throws WrongAnswer unless `holds` */
export function must(holds: boolean, otherwise: () => string): asserts holds {
  if (!holds) throw new WrongAnswer(otherwise());
}
