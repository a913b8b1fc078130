// Who is at the other end of a request: the first address in X-Forwarded-For, of which the gateway writes only what it trusts.
// For counting only; on this loopback port nobody but this machine can say otherwise.
import type { IncomingMessage } from 'node:http';

export function addressOf(request: IncomingMessage): string {
  const chain = request.headers['x-forwarded-for'];
  const [first = ''] = (Array.isArray(chain) ? chain.join(',') : (chain ?? '')).split(',');
  return first.trim() || (request.socket.remoteAddress ?? '');
}
