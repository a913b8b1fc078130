// An upstream's answer to a handshake that is no 101: given to the client as the HTTP answer it is (WS-3).
// Called by websocket.ts in place of what http-proxy-3 would write to the bare connection.
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { mapAnswer } from '../../../exchange/addresses/answer-addresses.ts';
import { HeaderLines } from '../../../exchange/answer-headers.ts';
import { answerInKind } from '../../../exchange/answer-type.ts';
import { Fault, type ForwardOrder } from '../../../exchange/directive.ts';
import type { Completion } from '../../../exchange/facts.ts';
import { toFault } from '../../../upstream/fault-mapping.ts';
import { cleanAnswer, editAnswer, hasNoContent } from '../../../upstream/response-headers.ts';
import { writeHead } from '../call/answer-sink.ts';
import type { NodeInbound } from '../request/open-request.ts';

/**
 * Streams `answer` with back pressure, under the time-outs of the order, and ends the client's connection with it.
 * Rejects when the head cannot be given on; an answer that breaks after it resets the client's connection (FWD-17).
 */
export async function relayAnswer(
  answer: IncomingMessage,
  inbound: NodeInbound,
  order: ForwardOrder,
  completion: Completion,
  decorate: (status: number, headers: HeaderLines) => void,
): Promise<void> {
  const { name: service, timeouts } = order.upstream;
  const { statusCode: status = 0 } = answer;
  const headers = new HeaderLines(answer.headers);
  cleanAnswer(status, headers, service);
  completion.addressesOutside += mapAnswer(headers, order, inbound.forwardedHost);
  editAnswer(headers, order);
  answerInKind(status, headers, order);
  decorate(status, headers);
  headers.set('connection', 'close');
  inbound.sealConnection();
  writeHead(inbound.res, status, headers);
  if (hasNoContent(status)) {
    answer.destroy();
    inbound.res.end();
    return;
  }
  inbound.onGone = () => answer.destroy(new Error('the client left'));
  const late = (code: 'upstream_idle_timeout' | 'upstream_total_timeout', timeoutMs: number) => () =>
    void answer.destroy(new Fault(code, { service, timeoutMs }));
  const total = setTimeout(late('upstream_total_timeout', timeouts.total), timeouts.total);
  answer.socket.setTimeout(timeouts.idle, late('upstream_idle_timeout', timeouts.idle));
  answer.once('error', (cause) => {
    // Before the client's connection is reset, after which the request counts as over. A client that left is no fault.
    if (!inbound.gone) completion.fault = toFault(cause, order).code;
  });
  answer.on('data', (chunk: Buffer) => {
    inbound.bytes += chunk.length;
  });
  try {
    await pipeline(answer, inbound.res);
  } finally {
    clearTimeout(total);
    inbound.onGone = undefined;
  }
}
