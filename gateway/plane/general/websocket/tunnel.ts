// One open WebSocket between two connections, and how either side or the gateway ends it.
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { endGracefully, LINGER_MS } from '../../graceful-end.ts';

export interface Tunnel {
  /** Octets read from both sides, pings included. */
  readonly bytes: () => number;
  /**
   * WS-6: sends a Close frame with `code` to both sides, and closes them at the client's next octets or after a second.
   */
  readonly close: (code: CloseCode) => void;
}

/** Milliseconds until the TCP keepalive probes an idle peer. A WebSocket may be idle for any time. */
const KEEP_ALIVE_MS = 60_000;
const CLOSE_GRACE_MS = 1_000;

const MAX_LISTENERS = 20;

/** RFC 6455 §7.4.1: the server shuts down, or the version has ended. */
export const GOING_AWAY = 1001;
/** RFC 6455 §7.4.1: the client is no longer permitted. */
export const POLICY_VIOLATION = 1008;
type CloseCode = typeof GOING_AWAY | typeof POLICY_VIOLATION;
const FIN_AND_CLOSE = 0x88;
const MASKED = 0x80;

export interface TunnelEnds {
  readonly client: Socket;
  /** Wraps `client`. Piped to and from `upstream`. */
  readonly end: Duplex;
  readonly upstream: Socket;
  /** Milliseconds. A side that reads nothing for this long, while octets wait for it, is disconnected. */
  readonly stalledAfterMs: number;
}

export function openTunnel(
  { client, end, upstream, stalledAfterMs }: TunnelEnds,
  onClosed: () => void,
): Tunnel {
  let closed = 0;
  let leaving = false;
  for (const socket of [client, upstream]) {
    // Each part that uses a connection listens for its close. Above ten listeners Node warns of a leak on stderr.
    socket.setMaxListeners(MAX_LISTENERS);
    // Node does not report the close of a socket that is not read, so a timeout ends it.
    socket.setTimeout(stalledAfterMs, () => {
      if (socket.writableLength > 0) socket.destroy();
    });
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.once('close', () => {
      closed += 1;
      if (closed === 2) onClosed();
    });
  }
  // Node closes a TLS connection with its client, before the last octets of the upstream arrive.
  client.allowHalfOpen = true;
  // http-proxy-3 ends the upstream's connection in both cases, but waits for the upstream without a timeout.
  client.once('end', () => {
    const hard = setTimeout(() => upstream.destroy(), LINGER_MS);
    upstream.once('close', () => clearTimeout(hard));
  });
  client.once('close', () => {
    upstream.resume();
    endGracefully(upstream);
  });

  return {
    bytes: () => client.bytesRead + upstream.bytesRead,
    close(code) {
      if (leaving) return;
      leaving = true;
      // Chunks were copied whole, but the last may end inside a frame. In that case the peer reads this Close
      // frame as the rest of that frame, and then sees the connection end.
      upstream.unpipe(end);
      end.unpipe(upstream);
      const payload = Buffer.from([code >> 8, code & 0xff]);
      end.write(Buffer.concat([Buffer.from([FIN_AND_CLOSE, payload.length]), payload]));
      if (upstream.writable) upstream.write(maskedClose(payload));
      let hard: NodeJS.Timeout | undefined;
      const endBoth = (): void => {
        clearTimeout(grace);
        end.off('data', endBoth);
        end.end();
        endGracefully(upstream);
        // Data for a client that does not read would keep the connection open.
        hard = setTimeout(() => client.destroy(), LINGER_MS);
      };
      const grace = setTimeout(endBoth, CLOSE_GRACE_MS);
      client.once('close', () => {
        clearTimeout(grace);
        clearTimeout(hard);
      });
      upstream.resume();
      // The client's next octets are its Close frame, or come too late.
      end.once('data', endBoth);
    },
  };
}

/** RFC 6455 §5.3: a client masks its frames, and the gateway is the upstream's client. */
function maskedClose(payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const masked = payload.map((octet, index) => octet ^ (mask[index] ?? 0));
  return Buffer.concat([Buffer.from([FIN_AND_CLOSE, MASKED | payload.length]), mask, masked]);
}

/**
 * The stream that http-proxy-3 gets in place of the client's connection, with backpressure both ways. If it
 * is destroyed, the connection stays open and is drained, so that a response can be written to the connection
 * itself. After a failed handshake, nothing of http-proxy-3 reaches the client. If it
 * is ended, the connection closes after the last octet is written.
 */
export function createClientEnd(client: Socket): Duplex {
  const onData = (chunk: Buffer): void => {
    if (!end.push(chunk)) client.pause();
  };
  const onEnd = (): void => void end.push(null);
  function closeBoth(): void {
    client.off('data', onData);
    client.off('end', onEnd);
    client.resume();
  }

  const end = new Duplex({
    // The only string is the head of the 101, one octet per character.
    decodeStrings: false,
    read: () => void client.resume(),
    write: (chunk: string | Buffer, _encoding, done) => void client.write(chunk, 'latin1', done),
    final(done) {
      closeBoth();
      endGracefully(client);
      done();
    },
    destroy(_error, done) {
      closeBoth();
      done(null);
    },
  });
  client.on('data', onData);
  client.on('end', onEnd);
  // The close of the connection is not an error. http-proxy-3 has its own listener only once it has begun.
  end.on('error', () => undefined);
  client.once('close', () => end.destroy());
  const self = (): Duplex => end;
  // The methods of a socket that http-proxy-3 calls. `openTunnel` sets up the connection itself.
  const surface = {
    setTimeout: self,
    setNoDelay: self,
    setKeepAlive: self,
    destroySoon: () => void end.end(),
  };
  return Object.assign(end, surface);
}
