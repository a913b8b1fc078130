// Closes a connection without losing its last response.
import type { Socket } from 'node:net';

/** Milliseconds. */
export const LINGER_MS = 2_000;

/**
 * Sends FIN and discards received bytes for at most `LINGER_MS`. If the socket were closed with unread bytes, the kernel
 * would send a reset, which can overtake the response (RFC 9112 §9.6).
 */
export function endGracefully(socket: Socket): void {
  const hard = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(hard));
  socket.once('end', () => socket.destroy());
  socket.end();
}
