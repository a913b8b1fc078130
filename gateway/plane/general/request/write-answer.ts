// Writes an answer the gateway made itself onto a response, and settles what becomes of the connection.
import type { ServerResponse } from 'node:http';
import type { ExchangeAnswer } from '../../../exchange/exchange.ts';
import { RecordFields } from '../../../exchange/request-view.ts';
import { abandonBody } from '../connection/connections.ts';
import { hasBody, writeHead } from './message.ts';
import type { OpenRequest, RequestPorts } from './open-request.ts';

/**
 * Answers `open` with `made`. An HTTP/1 connection ends afterwards when `mustClose` says so, when a drain runs, or when
 * a body is left unread on it: nothing that follows on it is a request any more (FWD-12, SMG-26).
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
  // Without a body the message is complete, though the parser has not said so while it hands over the head.
  const unread = !isHttp2 && !raw.complete && hasBody(raw, res);
  const close = !isHttp2 && (mustClose || unread || isDraining() || open.closeAfter);
  open.closeAfter = close;
  if (close) open.connection.isSealed = true;
  if (unread) abandonBody(raw);
  try {
    open.bytes = writeAnswer(res, raw.method ?? '', made, close);
  } catch (thrown) {
    // A line that cannot be written must not end the process; a failure's answer holds nothing of the request.
    const failed = exchange.fail(thrown, open.facts, { scheme: glimpse.scheme, headers: new RecordFields() });
    open.bytes = writeAnswer(res, raw.method ?? '', failed, close);
  }
}

/** Returns the body bytes written; none for HEAD, 204 and 304 (ERR-3). */
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
