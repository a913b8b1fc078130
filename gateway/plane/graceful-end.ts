// The end of a connection whose last answer must arrive whatever the client still sends.
import type { Socket } from 'node:net';

/** How long a connection may linger after its last byte, so that this byte is not lost to a reset, milliseconds. */
export const LINGER_MS = 2_000;

/**
 * Sends our end and discards what still arrives, for a bounded time: closing at once with unread bytes makes the
 * kernel send a reset, which can overtake the answer (RFC 9112 §9.6).
 */
export function endGracefully(socket: Socket): void {
  const hard = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(hard));
  socket.once('end', () => socket.destroy());
  socket.end();
}
