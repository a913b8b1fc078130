// Writes a response of the gateway, and decides whether the connection closes after it.
import type { ServerResponse } from 'node:http';
import type { ExchangeAnswer } from '../../../exchange/exchange.ts';
import { RecordFields } from '../../../exchange/request-view.ts';
import { abandonBody } from '../connection/connections.ts';
import { hasBody, writeHead } from './message.ts';
import type { OpenRequest, RequestPorts } from './open-request.ts';

/**
 * After the response, an HTTP/1 connection closes if `mustClose` is true, during a drain, or if a body is
 * unread. Later octets on it are not read as requests (FWD-12, SMG-26).
 */
export function sendAnswer(
  open: OpenRequest,
  made: ExchangeAnswer,
  mustClose: boolean,
  { exchange, isDraining }: Pick<RequestPorts, 'exchange' | 'isDraining'>,
): void {
  const { raw, res, isHttp2, glimpse } = open;
  open.answered = true;
  if (res.headersSent) {
    res.destroy();
    return;
  }
  // A message without a body is complete, although the parser reports that only after the head.
  const unread = !isHttp2 && !raw.complete && hasBody(raw, res);
  const close = !isHttp2 && (mustClose || unread || isDraining() || open.closeAfter);
  open.closeAfter = close;
  if (close) open.connection.isSealed = true;
  if (unread) abandonBody(raw);
  try {
    open.bytes = writeAnswer(res, raw.method ?? '', made, close);
  } catch (thrown) {
    // An invalid header value must not end the process. The response to a fault has no value from the request.
    const failed = exchange.fail(thrown, open.facts, { scheme: glimpse.scheme, headers: new RecordFields() });
    open.bytes = writeAnswer(res, raw.method ?? '', failed, close);
  }
}

/** Returns the octets of the body written. HEAD, 204 and 304 have none (ERR-3). */
function writeAnswer(res: ServerResponse, method: string, answer: ExchangeAnswer, close: boolean): number {
  const { status, headers } = answer;
  // RFC 9110 §7.8: Upgrade, which a 426 must send, is listed in Connection.
  if (close) headers.set('connection', headers.get('upgrade') === undefined ? 'close' : 'close, upgrade');
  if (status !== 204 && status !== 304) headers.set('content-length', String(Buffer.byteLength(answer.body)));
  writeHead(res, status, headers);
  const body = method === 'HEAD' || status === 204 || status === 304 ? '' : answer.body;
  res.end(body === '' ? undefined : body);
  return Buffer.byteLength(body);
}
