// The client address of a request, for counting only: the first in X-Forwarded-For. Only this machine reaches this port, and the
// gateway writes only addresses it trusts.
import type { IncomingMessage } from 'node:http';

export function addressOf(request: IncomingMessage): string {
  const chain = request.headers['x-forwarded-for'];
  const [first = ''] = (Array.isArray(chain) ? chain.join(',') : (chain ?? '')).split(',');
  return first.trim() || (request.socket.remoteAddress ?? '');
}
