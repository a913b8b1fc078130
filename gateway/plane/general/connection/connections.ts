// The open client connections of a listener, and how they are closed.
import type { IncomingMessage } from 'node:http';
import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { endGracefully } from '../../graceful-end.ts';

export interface Connections {
  readonly track: (socket: Socket) => void;
  /** The connection, or its TLS socket. HTTP/2 connections are known by their session instead. */
  readonly trackSpeaker: (socket: Socket | TLSSocket) => void;
  readonly trackSession: (session: ServerHttp2Session) => void;
  /** Call when the connection is upgraded. The WebSocket proxy closes it. */
  readonly release: (socket: Socket) => void;
  readonly size: () => number;
  /** Sends GOAWAY on HTTP/2. Requests that clients still send are served. */
  readonly announceEnd: () => void;
  /** Closes idle connections, after a second if octets have arrived. From then on also each new connection. */
  readonly endIdle: (busy: Busy) => void;
  readonly destroyAll: () => void;
}

/** Whether a request on a connection awaits its response. */
export interface Busy {
  readonly socket: (socket: Socket) => boolean;
  readonly session: (session: ServerHttp2Session) => boolean;
}

/** Milliseconds for the rest of a request whose head has begun to arrive. */
const HEAD_GRACE_MS = 1_000;
const NGHTTP2_NO_ERROR = 0;
/** RFC 9113 §6.8: the last stream is not decided yet. */
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
      if (speakers.has(socket) && !busy.socket(socket)) endGracefully(socket);
    }, HEAD_GRACE_MS).unref();
  }

  function endSession(session: ServerHttp2Session, busy: Busy): void {
    setTimeout(() => {
      // For a session that opened in the meantime, and for one whose header section never ends.
      session.close();
      if (busy.session(session)) endSession(session, busy);
      else session.destroy();
    }, HEAD_GRACE_MS).unref();
  }

  return {
    track: (socket) => keep(open, socket),
    trackSpeaker(socket) {
      if ('alpnProtocol' in socket && socket.alpnProtocol === 'h2') {
        // Node ends its side after the last stream, and then waits without a timeout for the client.
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
      // A session that the client ended stays in the set until its connection closes.
      for (const session of sessions) if (!session.destroyed) session.goaway(NGHTTP2_NO_ERROR, ANY_STREAM);
    },
    endIdle(busy) {
      ending = busy;
      for (const session of sessions) {
        session.close();
        endSession(session, busy);
      }
      for (const socket of speakers) endConnection(socket, busy);
      // A TLS connection before its handshake is only in `open`.
      for (const socket of open) if (socket.bytesRead === 0) endGracefully(socket);
    },
    destroyAll() {
      for (const socket of open) socket.destroy();
    },
  };
}

/** Discards the rest of a body that has its response, and makes Node close the connection without a reset. */
export function abandonBody(raw: IncomingMessage): void {
  const { socket } = raw;
  raw.unpipe();
  raw.resume();
  // Node calls this after the last response of a connection.
  socket.destroySoon = () => endGracefully(socket);
}
