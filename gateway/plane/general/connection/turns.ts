// Pipelined requests of one HTTP/1 connection: in order, one at a time, none forgotten.
// RFC 9112 §9.3.2 lets only safe ones run side by side, and each would keep an upstream connection until its turn.
import type { Socket } from 'node:net';
import type { OpenRequest } from '../request/open-request.ts';

export interface Turns {
  readonly join: (open: OpenRequest) => void;
  /** Requests of a connection that have no whole answer yet. */
  readonly unanswered: (socket: Socket) => number;
  /** The last request begun on a connection, while that is not over: an idle connection keeps nothing of any request. */
  readonly latest: (socket: Socket) => OpenRequest | undefined;
  /** Undefined when it is its turn already; else resolves when the one before it has ended. */
  readonly wait: (open: OpenRequest) => Promise<void> | undefined;
  readonly leave: (open: OpenRequest) => void;
}

/** `onLost` hears of every request that is still open when its connection closes: Node tells only the first of them. */
export function createTurns(onLost: (open: OpenRequest) => void): Turns {
  const last = new WeakMap<Socket, OpenRequest>();
  const unanswered = new WeakMap<Socket, number>();

  function count(socket: Socket, more: number): void {
    unanswered.set(socket, (unanswered.get(socket) ?? 0) + more);
  }

  function loseAll(socket: Socket): void {
    const lost: OpenRequest[] = [];
    for (let open = last.get(socket); open !== undefined; open = open.before) lost.unshift(open);
    for (const open of lost) onLost(open);
  }

  return {
    join(open) {
      const { socket } = open.raw;
      open.before = last.get(socket);
      last.set(socket, open);
      if (!unanswered.has(socket)) socket.once('close', () => loseAll(socket));
      count(socket, 1);
    },
    unanswered: (socket) => unanswered.get(socket) ?? 0,
    latest: (socket) => last.get(socket),
    wait({ before }) {
      if (before === undefined || before.ended) return undefined;
      return new Promise((resolve) => {
        before.onEnded = resolve;
      });
    },
    leave(open) {
      if (!open.isHttp2) {
        const { socket } = open.raw;
        count(socket, -1);
        if (last.get(socket) === open) last.delete(socket);
      }
      open.ended = true;
      open.before = undefined;
      open.onEnded?.();
    },
  };
}
