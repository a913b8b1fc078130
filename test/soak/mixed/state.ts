// What is true of the house at the moment, so that traffic knows which answers are right.
// Written by faults.ts alone, read by every kind of traffic.

export interface State {
  /** The edition every answer must have reached, and the newest that one may have. */
  edition: { least: number; newest: number };
  /** Counts each time the fickle upstream is harmed, and each time it is known to be well again. */
  fickle: { well: boolean; changes: number };
  stopping: boolean;
}

export function freshState(): State {
  return { edition: { least: 1, newest: 1 }, fickle: { well: true, changes: 0 }, stopping: false };
}

/** An answer that is not what the request must get. */
export class WrongAnswer extends Error {}

/** @throws WrongAnswer unless `holds` */
export function must(holds: boolean, otherwise: () => string): asserts holds {
  if (!holds) throw new WrongAnswer(otherwise());
}
