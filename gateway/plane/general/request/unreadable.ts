// What comes on an HTTP/1 connection and is no request: refused once, and nothing behind it is read as a request.
// Fed by proxy-listener.ts; request-life.ts says which request of the connection is still waiting for its answer.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Refusal } from '../../../exchange/directive.ts';
import type { ConnectionFacts, OpenRequest } from './open-request.ts';
import { parserRefusal } from './parser-error.ts';

export interface Unreadable {
  /** The parser or a deadline refused; the bytes that follow cannot be understood (ERR-3). */
  readonly refuseUnparsed: (error: Error, socket: Socket) => void;
  /** An HTTP/1 CONNECT, which Node hands over without a response object (FWD-8). */
  readonly refuseTunnel: (raw: IncomingMessage) => void;
}

export interface UnreadablePorts {
  readonly connectionOf: (socket: Socket) => ConnectionFacts;
  /** Why a CONNECT is refused here. */
  readonly tunnel: Refusal;
  readonly refuse: (open: OpenRequest, refusal: Refusal) => void;
  /** Where no request waits for an answer. */
  readonly refuseOnSocket: (refusal: Refusal, socket: Socket) => void;
}

export function createUnreadable({
  connectionOf,
  tunnel,
  refuse,
  refuseOnSocket,
}: UnreadablePorts): Unreadable {
  function refuseRest(refusal: Refusal, socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection.isSealed) return;
    connection.isSealed = true;
    const open = connection.latest;
    const pending = open !== undefined && !open.res.writableFinished;
    if (pending && open.raw.complete) {
      // The error is in a later request: what was asked before it still gets its answer.
      open.closeAfter = true;
    } else if (pending && open.res.headersSent) {
      socket.destroy();
    } else if (pending) {
      refuse(open, refusal);
      open.inbound?.onGone?.();
    } else {
      refuseOnSocket(refusal, socket);
    }
  }

  return {
    refuseUnparsed(error, socket) {
      const refusal = parserRefusal(error);
      if (refusal === undefined) socket.destroy();
      else refuseRest(refusal, socket);
    },
    refuseTunnel: ({ socket }) => refuseRest(tunnel, socket),
  };
}
