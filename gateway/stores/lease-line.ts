// The takes that wait for one key, in the order in which they came: which of them an answer of the store refuses.
// leases.ts stands in line with each take that no lease serves; lease-account.ts holds the answer against the place.
import type { Wanted } from './lease-entries.ts';

/** An answer that may be older than the take; one that was asked for after it came; the last that it waits for. */
export type Heard = 'earlier' | 'own' | 'last';

interface Place extends Disposable {
  /**
   * How many units there must have been, else the answer refuses this take. Of an answer of its own: for it and those before
   * it, less where somebody left out of turn. Of its last one: for all that wait, since it has no turn after that.
   */
  readonly claim: (heard: Heard) => number;
}

/** A place at the end of the line, until it is disposed of. */
export function joinLine({ entry, take: { cost } }: Wanted): Place {
  entry.queued += cost;
  const upToHere = entry.left + entry.queued;
  return {
    claim: (heard) => {
      switch (heard) {
        case 'earlier':
          return 0;
        case 'own':
          return Math.max(cost, upToHere - entry.left);
        case 'last':
          return entry.queued;
        default:
          return heard satisfies never;
      }
    },
    [Symbol.dispose]: () => {
      entry.queued -= cost;
      entry.left += cost;
    },
  };
}
