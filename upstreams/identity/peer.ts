// Who is at the other end of a request: what the gateway says in X-Forwarded-For, of which the last address is its own look.
// For counting only; on this loopback port nobody but this machine can say otherwise.
import type { IncomingMessage } from 'node:http';

export function addressOf(request: IncomingMessage): string {
  const chain = request.headers['x-forwarded-for'];
  const last = (Array.isArray(chain) ? chain.join(',') : (chain ?? '')).split(',').at(-1)?.trim();
  return last || (request.socket.remoteAddress ?? '');
}
