// The client's end of a WebSocket as http-proxy-3 is given it: a stream of ours in front of the connection.
// Made before the upstream is asked; until the upstream has switched, nothing that http-proxy-3 writes gets further.
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { endGently } from '../connection/connections.ts';

/**
 * Passes bytes both ways with back pressure. Destroyed, it leaves the connection open and reads it empty: then an answer
 * is written to the connection itself. Ended, it ends the connection once the client has had everything.
 */
export function createClientEnd(client: Socket): Duplex {
  const onData = (chunk: Buffer): void => {
    if (!end.push(chunk)) client.pause();
  };
  const onEnd = (): void => void end.push(null);
  function leave(): void {
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
      leave();
      endGently(client);
      done();
    },
    destroy(_error, done) {
      leave();
      done(null);
    },
  });
  client.on('data', onData);
  client.on('end', onEnd);
  // An end of the connection that is no error of ours; http-proxy-3 listens as well, but not before it has begun.
  end.on('error', () => undefined);
  client.once('close', () => end.destroy());
  return Object.assign(end, socketSurface(end));
}

/** What http-proxy-3 calls on a socket besides the methods of a stream; the connection is set up in tunnel.ts. */
function socketSurface(
  end: Duplex,
): Pick<Socket, 'setTimeout' | 'setNoDelay' | 'setKeepAlive' | 'destroySoon'> {
  const surface = {
    setTimeout: () => end as Socket,
    setNoDelay: () => end as Socket,
    setKeepAlive: () => end as Socket,
    destroySoon: () => void end.end(),
  };
  return surface;
}
