// Hands an answer made here to its client and settles what becomes of the connection.
// Called by request-life.ts; write-answer.ts does the writing.
import type { Answer } from '../../../exchange/exchange.ts';
import { RecordFields } from '../../../exchange/request-view.ts';
import { abandonBody } from '../connection/connections.ts';
import { hasBody } from './message.ts';
import type { OpenRequest, RequestPorts } from './open-request.ts';
import { writeAnswer } from './write-answer.ts';

/**
 * Answers `open` with `made`. An HTTP/1 connection ends afterwards when `mustClose` says so, when a drain runs, or when
 * a body is left unread on it: nothing that follows on it is a request any more (FWD-12, SMG-26).
 */
export function giveAnswer(
  open: OpenRequest,
  made: Answer,
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
