// How much of a request's body must be here before a target is asked: a small one whole, of a large one enough to see it flow.
// Kept by measured-body.ts; a client that sends slowly so holds up its own request, and no place at a target.

/** Octets that are waited for; what waits stands in a stream that takes about this much more. */
export const ENOUGH = 16 * 1_024;
/** Then a body that trickles is taken for one: an upstream may want to answer before it has all of it, milliseconds. */
export const PATIENCE_MS = 250;
/** Bodies that are waited for side by side: 64 MiB. */
export const MOST_AWAITED = 4_096;

/** What all requests of a process wait for together. */
export interface AwaitedBodies {
  /** Bodies at the moment. */
  awaited: number;
  /** With more than this many, each is waited for only until what came with its head has been read. */
  readonly most: number;
}

export interface Arrival {
  readonly received: (octets: number) => void;
  /** All of it is here. */
  readonly whole: () => void;
  /** Nobody wants to know any more. */
  readonly stop: () => void;
}

/** `onReady` comes once, and not before this has returned, unless it was stopped before. */
export function awaitBody(bodies: AwaitedBodies, onReady: () => void): Arrival {
  let octets = 0;
  let over = false;
  bodies.awaited += 1;
  const timer = bodies.awaited > bodies.most ? undefined : setTimeout(ready, PATIENCE_MS);
  const immediate = timer === undefined ? setImmediate(ready) : undefined;

  function stop(): void {
    if (over) return;
    over = true;
    bodies.awaited -= 1;
    clearTimeout(timer);
    clearImmediate(immediate);
  }
  function ready(): void {
    if (over) return;
    stop();
    onReady();
  }
  return {
    received(more) {
      octets += more;
      if (octets >= ENOUGH) ready();
    },
    whole: ready,
    stop,
  };
}
