// What a listener remembers of its client connections: which are open, which must take no further request.
// Node dispatches pipelined requests even after `Connection: close` was answered, so a refused connection is sealed.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { endGently } from '../forward/gentle-end.ts';

export interface Connections {
  readonly track: (socket: Socket) => void;
  /** From now on every request on this HTTP/1 connection is ignored (FWD-12, SMG-26). */
  readonly seal: (socket: Socket) => void;
  readonly isSealed: (socket: Socket) => boolean;
  readonly size: () => number;
  readonly destroyAll: () => void;
}

export function createConnections(): Connections {
  const open = new Set<Socket>();
  const sealed = new WeakSet<Socket>();
  return {
    track(socket) {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    },
    seal: (socket) => void sealed.add(socket),
    isSealed: (socket) => sealed.has(socket),
    size: () => open.size,
    destroyAll() {
      for (const socket of open) socket.destroy();
    },
  };
}

/** Discards the rest of a body whose answer is already made, and makes Node close its connection gently. */
export function abandonBody(raw: IncomingMessage): void {
  const { socket } = raw;
  raw.unpipe();
  raw.resume();
  // Node calls this once the last answer of a connection has been flushed.
  socket.destroySoon = () => endGently(socket);
}
