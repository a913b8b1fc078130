// Writes an answer the gateway made itself, and settles what becomes of the connection: onto a response, or onto a bare
// socket when there was no request to parse. The body is complete and small; call/ streams upstream answers instead.
import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Refusal } from '../../../exchange/directive.ts';
import type { Answer } from '../../../exchange/exchange.ts';
import { RecordFields } from '../../../exchange/request-view.ts';
import type { ClientAddress } from '../../port.ts';
import { abandonBody, endGently } from '../connection/connections.ts';
import { hasBody, writeHead } from './message.ts';
import type { OpenRequest, RequestPorts } from './open-request.ts';

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

/** Returns the body bytes written; none for HEAD, 204 and 304 (ERR-3). */
function writeAnswer(res: ServerResponse, method: string, answer: Answer, close: boolean): number {
  const { status, headers } = answer;
  // RFC 9110 §7.8: whoever sends Upgrade, as a 426 must, names it in Connection.
  if (close) headers.set('connection', headers.get('upgrade') === undefined ? 'close' : 'close, upgrade');
  if (status !== 204 && status !== 304) headers.set('content-length', String(Buffer.byteLength(answer.body)));
  writeHead(res, status, headers);
  const body = method === 'HEAD' || status === 204 || status === 304 ? '' : answer.body;
  res.end(body === '' ? undefined : body);
  return Buffer.byteLength(body);
}

/** Answers on the bare connection, ends it, and has it observed (ERR-3). */
export function refuseOnSocket(
  refusal: Refusal,
  socket: Socket,
  client: ClientAddress,
  { exchange, observer, scheme, now }: RequestPorts,
): void {
  const facts = exchange.begin(randomUUID());
  const made = exchange.refuse(refusal, facts, { scheme, headers: new RecordFields() });
  writeToSocket(socket, made, new Date(now()).toUTCString());
  observer.onAnswer(facts, {
    method: '-',
    path: '-',
    status: made.status,
    bytes: Buffer.byteLength(made.body),
    clientAddress: client.full,
    clientNetwork: client.key,
    scheme,
    protocol: 'HTTP/1.1',
    aborted: false,
    userAgent: undefined,
  });
}

/** For what the parser refused: there is no response object, and the connection cannot be read any further. */
function writeToSocket(socket: Socket, answer: Answer, date: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  let head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\ndate: ${date}\r\n`;
  answer.headers.set('content-length', String(Buffer.byteLength(answer.body)));
  for (const [name, value] of Object.entries(answer.headers.record())) {
    if (name === 'connection') continue;
    for (const each of typeof value === 'string' ? [value] : value) head += `${name}: ${each}\r\n`;
  }
  socket.write(`${head}connection: close\r\n\r\n${answer.body}`, 'utf8');
  endGently(socket);
}
