// Which client connections of a listener are open, and how they are ended.
import type { IncomingMessage } from 'node:http';
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { endGracefully } from '../../graceful-end.ts';

export interface Connections {
  readonly track: (socket: Socket) => void;
  /** The connection, or what TLS makes of it; one that speaks HTTP/2 is known by its session alone. */
  readonly trackSpeaker: (socket: Socket | TLSSocket) => void;
  readonly trackSession: (session: ServerHttp2Session) => void;
  /** The connection was upgraded; its new owner ends it. */
  readonly release: (socket: Socket) => void;
  readonly size: () => number;
  /** Tells HTTP/2 clients that no more requests are wanted here; those they send all the same are answered. */
  readonly announceEnd: () => void;
  /** Ends what has no request, now or, where something has come already, soon; from now on also each new one. */
  readonly endIdle: (busy: Busy) => void;
  readonly destroyAll: () => void;
}

/** Whether a request of a connection waits for its answer. */
export interface Busy {
  readonly socket: (socket: Socket) => boolean;
  readonly session: (session: ServerHttp2Session) => boolean;
}

/** How long a request whose head has begun to arrive has for the rest of it when the connections are ended, milliseconds. */
const HEAD_GRACE_MS = 1_000;
const NGHTTP2_NO_ERROR = 0;
/** RFC 9113 §6.8: no stream is ruled out yet. */
const ANY_STREAM = 2 ** 31 - 1;

export function createConnections(): Connections {
  const open = new Set<Socket>();
  const speakers = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  let ending: Busy | undefined;

  function keep<T extends Socket | ServerHttp2Session>(set: Set<T>, one: T): void {
    set.add(one);
    one.once('close', () => set.delete(one));
  }

  function endConnection(socket: Socket, busy: Busy): void {
    setTimeout(() => {
      // A WebSocket by now is ended by others.
      if (speakers.has(socket) && !busy.socket(socket)) endGracefully(socket);
    }, HEAD_GRACE_MS).unref();
  }

  function endSession(session: ServerHttp2Session, busy: Busy): void {
    setTimeout(() => {
      // One that began meanwhile, and one whose header section never ends: that may come behind any request.
      session.close();
      if (busy.session(session)) endSession(session, busy);
      else session.destroy();
    }, HEAD_GRACE_MS).unref();
  }

  return {
    track: (socket) => keep(open, socket),
    trackSpeaker(socket) {
      if ('alpnProtocol' in socket && socket.alpnProtocol === 'h2') {
        // Node ends its side behind the last stream, and then waits for ever for its client to do the same.
        socket.once('finish', () => endGracefully(socket));
        return;
      }
      keep<Socket>(speakers, socket);
      if (ending !== undefined) endConnection(socket, ending);
    },
    trackSession(session) {
      keep(sessions, session);
      if (ending !== undefined) endSession(session, ending);
    },
    release: (socket) => void speakers.delete(socket),
    size: () => open.size,
    announceEnd() {
      // One that its client has ended is known until its connection has closed, and says nothing any more.
      for (const session of sessions) if (!session.destroyed) session.goaway(NGHTTP2_NO_ERROR, ANY_STREAM);
    },
    endIdle(busy) {
      ending = busy;
      for (const session of sessions) {
        session.close();
        endSession(session, busy);
      }
      for (const socket of speakers) endConnection(socket, busy);
      // Of a TLS connection that has said nothing there is no speaker yet.
      for (const socket of open) if (socket.bytesRead === 0) endGracefully(socket);
    },
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
  socket.destroySoon = () => endGracefully(socket);
}
