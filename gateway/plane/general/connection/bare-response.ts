// A response object for a connection that Node's server has handed over: refusals of an upgrade are written like all others.
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { endGracefully } from '../../graceful-end.ts';

export interface BareResponse {
  readonly res: ServerResponse;
  /** Lets the answer onto the connection; what was written before is held until then. */
  readonly attach: () => void;
  /** The connection has another use now. */
  readonly detach: () => void;
}

/** Does what Node's server does for its own: back pressure, `close` after the last byte. */
export function createBareResponse(raw: IncomingMessage, socket: Socket): BareResponse {
  const res = new ServerResponse(raw);
  const onDrain = (): void => void res.emit('drain');
  prepare(socket);
  res.once('finish', () => {
    detach();
    res.emit('close');
  });

  function detach(): void {
    socket.off('drain', onDrain);
    res.detachSocket(socket);
  }

  return {
    res,
    attach() {
      // The answer before it on this connection may have set the time-out of an idle one.
      socket.setTimeout(0);
      socket.on('drain', onDrain);
      res.assignSocket(socket);
    },
    detach,
  };
}

/** Apart, so that a connection which becomes a WebSocket keeps nothing of the response. */
function prepare(socket: Socket): void {
  // Node has removed its own listener, and an unhandled error ends the process.
  socket.on('error', () => undefined);
  // A reset must not overtake the answer, so that what still comes is read and thrown away.
  socket.destroySoon = () => {
    socket.resume();
    endGracefully(socket);
  };
}
