// One open WebSocket between two connections: how it is kept, how either side's end reaches the other, how we end it.
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { endGracefully, LINGER_MS } from '../../graceful-end.ts';

export interface Tunnel {
  /** What both sides have said so far; pings count. */
  readonly bytes: () => number;
  /** WS-6: a Close frame with `code` to both sides, then the end, with whatever they answer or after a second. */
  readonly close: (code: CloseCode) => void;
}

/** A quiet peer is asked after this long whether it is still there, milliseconds; a WebSocket may be quiet for as long as it likes. */
const KEEP_ALIVE_MS = 60_000;
/** How long the two sides have to answer a Close frame, milliseconds. */
const CLOSE_GRACE_MS = 1_000;

const MOST_LISTENERS = 20;

/** RFC 6455 §7.4.1: the server is going down, or what it served is gone. */
export const GOING_AWAY = 1001;
/** The same: what the client may do has ended. */
export const POLICY_VIOLATION = 1008;
type CloseCode = typeof GOING_AWAY | typeof POLICY_VIOLATION;
const FIN_AND_CLOSE = 0x88;
const MASKED = 0x80;

export interface TunnelEnds {
  readonly client: Socket;
  /** Stands before `client`; `upstream` is piped to and from it. */
  readonly end: Duplex;
  readonly upstream: Socket;
  /** A side that has not taken what waits for it for this long is cut, milliseconds. */
  readonly stalledAfterMs: number;
}

/** `onClosed` comes once, when both sides have closed. */
export function openTunnel(
  { client, end, upstream, stalledAfterMs }: TunnelEnds,
  onClosed: () => void,
): Tunnel {
  let closed = 0;
  let leaving = false;
  for (const socket of [client, upstream]) {
    // Each part that holds a connection listens for its close. Node takes more than ten for a leak and warns on stderr.
    socket.setMaxListeners(MOST_LISTENERS);
    // A side that is not read cannot be seen to close.
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
  // Node ends a TLS connection together with its client, before the upstream's last words have come.
  client.allowHalfOpen = true;
  // http-proxy-3 ends the upstream's connection in both cases, but waits for ever for the upstream to do the same.
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
      // Whole chunks have gone through; whether the last one ended with a frame is not known here. Where it did not, the
      // peer takes ours for the rest of that frame and then sees the connection end.
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
        // What waits for a client that takes nothing never ends by itself.
        hard = setTimeout(() => client.destroy(), LINGER_MS);
      };
      const grace = setTimeout(endBoth, CLOSE_GRACE_MS);
      client.once('close', () => {
        clearTimeout(grace);
        clearTimeout(hard);
      });
      upstream.resume();
      // What a client says from now on is its own Close frame, or comes too late.
      end.once('data', endBoth);
    },
  };
}

/** RFC 6455 §5.3: what a client sends is masked, and towards the upstream we are the client. */
function maskedClose(payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const masked = payload.map((octet, index) => octet ^ (mask[index] ?? 0));
  return Buffer.concat([Buffer.from([FIN_AND_CLOSE, MASKED | payload.length]), mask, masked]);
}

/**
 * The client's end as http-proxy-3 is given it: a stream of ours, made before the upstream is asked. Until the upstream has
 * switched, nothing that http-proxy-3 writes gets further.
 *
 * Passes bytes both ways with back pressure. Destroyed, it leaves the connection open and reads it empty: then an answer
 * is written to the connection itself. Ended, it ends the connection once the client has had everything.
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
    // The only text is the head of the 101, whose characters are octets.
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
  // An end of the connection that is no error of ours; http-proxy-3 listens as well, but not before it has begun.
  end.on('error', () => undefined);
  client.once('close', () => end.destroy());
  const self = (): Duplex => end;
  // What http-proxy-3 calls on a socket besides the methods of a stream; `openTunnel` sets up the connection.
  const surface = {
    setTimeout: self,
    setNoDelay: self,
    setKeepAlive: self,
    destroySoon: () => void end.end(),
  };
  return Object.assign(end, surface);
}
