// Relays an upstream's response to a WebSocket handshake that is not a 101 (WS-3).
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Fault } from '../../../exchange/directive.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import type { Forwarded, ForwardPorts } from '../../../upstream/attempts.ts';
import { toFault } from '../../../upstream/fault-mapping.ts';
import { cleanAnswer, finishHead, hasNoContent } from '../../../upstream/response-headers.ts';
import { writeHead } from '../request/message.ts';
import type { NodeInbound } from '../request/open-request.ts';

/**
 * Streams `answer` with backpressure under the timeouts of the order. The client's connection closes after it. Rejects
 * if the head cannot be written. If `answer` breaks later, the client's connection is reset (FWD-17).
 */
export async function relayAnswer(
  answer: IncomingMessage,
  forwarded: Forwarded & { readonly inbound: NodeInbound },
  {
    exchange,
    startDeadline,
  }: Pick<ForwardPorts, 'startDeadline'> & { readonly exchange: Pick<Exchange, 'decorate'> },
): Promise<void> {
  const { inbound, order, facts } = forwarded;
  const { name: service, timeouts } = order.upstream;
  const { statusCode: status = 0 } = answer;
  const headers = cleanAnswer(status, answer.headers, order.upstream);
  finishHead(exchange, status, headers, forwarded);
  headers.set('connection', 'close');
  inbound.sealConnection();
  writeHead(inbound.res, status, headers);
  if (hasNoContent(status)) {
    answer.destroy();
    inbound.res.end();
    return;
  }
  inbound.onGone = () => answer.destroy(new Error('the client disconnected'));
  const late = (code: 'upstream_idle_timeout' | 'upstream_total_timeout', timeoutMs: number) => () =>
    void answer.destroy(new Fault(code, { service, timeoutMs }));
  const total = startDeadline(timeouts.total, late('upstream_total_timeout', timeouts.total));
  answer.socket.setTimeout(timeouts.idle, late('upstream_idle_timeout', timeouts.idle));
  // FWD-17: Node treats a reset as the end of a body without a length. Node's own listener runs after this one.
  answer.socket.prependOnceListener('error', (cause) => {
    if (!answer.complete) answer.destroy(cause);
  });
  answer.once('error', (cause) => {
    // Set before the client's connection is reset, because the request ends then. A disconnected client is not a fault.
    if (!inbound.gone) facts.completion.fault = toFault(cause, order);
  });
  answer.on('data', (chunk: Buffer) => {
    inbound.bytes += chunk.length;
  });
  try {
    await pipeline(answer, inbound.res);
  } finally {
    total.stop();
    inbound.onGone = undefined;
  }
}
