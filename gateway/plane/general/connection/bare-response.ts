// A response object for a connection that Node's server has handed over, to answer an upgrade over HTTP.
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { endGracefully } from '../../graceful-end.ts';

export interface BareResponse {
  readonly res: ServerResponse;
  /** Writes the response to the connection. Earlier writes are buffered until then. */
  readonly attach: () => void;
  readonly detach: () => void;
}

/** With backpressure and a `close` event after the last octet, as in Node's server. */
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
      // An earlier response on the connection may have set the timeout for idle connections.
      socket.setTimeout(0);
      socket.on('drain', onDrain);
      res.assignSocket(socket);
    },
    detach,
  };
}

/** A separate function, so that its closures do not keep the response in memory while a WebSocket is open. */
function prepare(socket: Socket): void {
  // Node has removed its own listener, and an unhandled error ends the process.
  socket.on('error', () => undefined);
  // A reset must not overtake the response, so further octets are read and dropped.
  socket.destroySoon = () => {
    socket.resume();
    endGracefully(socket);
  };
}
