// Pipelined requests of one HTTP/1 connection: in order, one at a time, none forgotten.
// RFC 9112 §9.3.2 lets only safe ones run side by side, and each would keep an upstream connection until its turn.
import type { ConnectionFacts, OpenRequest } from '../request/open-request.ts';

export function joinTurns(open: OpenRequest): void {
  const { connection } = open;
  open.before = connection.latest;
  connection.latest = open;
  connection.unanswered += 1;
}

/** Undefined when it is its turn already; else resolves when the one before it has ended. */
export function waitForTurn({ before }: OpenRequest): Promise<void> | undefined {
  if (before === undefined || before.ended) return undefined;
  return new Promise((resolve) => {
    before.onEnded = resolve;
  });
}

export function leaveTurns(open: OpenRequest): void {
  if (!open.isHttp2) {
    const { connection } = open;
    connection.unanswered -= 1;
    // An idle connection keeps nothing of any request.
    if (connection.latest === open) connection.latest = undefined;
  }
  open.ended = true;
  open.before = undefined;
  open.onEnded?.();
}

/** Requests that are still open, the oldest first: when a connection closes Node tells only that one. */
export function openOn({ latest }: ConnectionFacts): readonly OpenRequest[] {
  const found: OpenRequest[] = [];
  for (let open = latest; open !== undefined; open = open.before) found.unshift(open);
  return found;
}
