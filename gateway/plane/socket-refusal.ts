// Refuses on the bare socket if no request could be read, and names the exceeded bound for the metrics.
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Refusal } from '../exchange/directive.ts';
import { RecordFields } from '../exchange/request-view.ts';
import type { CountedBound } from '../plan/bounds.ts';
import { headText } from './answer-text.ts';
import { endGracefully } from './graceful-end.ts';
import type { ClientAddress, ListenerOptions } from './port.ts';

/** Writes the refusal, closes the connection and reports it to the observer (ERR-3). */
export function refuseOnSocket(
  refusal: Refusal,
  socket: Socket,
  client: ClientAddress,
  {
    exchange,
    observer,
    scheme,
    now,
  }: Pick<ListenerOptions, 'exchange' | 'observer' | 'now'> & { readonly scheme: 'https' | 'http' },
): void {
  const facts = exchange.begin(randomUUID());
  const made = exchange.refuse(refusal, facts, { scheme, headers: new RecordFields() });
  if (socket.writable) {
    made.headers.set('content-length', String(Buffer.byteLength(made.body)));
    made.headers.set('connection', 'close');
    const head = headText(made.status, made.headers, new Date(now()).toUTCString());
    socket.write(`${head}\r\n`, 'latin1');
    socket.write(made.body, 'utf8');
    endGracefully(socket);
  } else socket.destroy();
  observer.onAnswer(facts, {
    method: '-',
    host: undefined,
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

/** The key in `bounds` of the gateway file that caused the refusal. */
export function refusedBound(refusal: Refusal, tooManyFields: boolean): CountedBound | undefined {
  if (refusal.reason !== 'request_malformed') return undefined;
  switch (refusal.status) {
    case 408:
      return 'headers';
    case 414:
      return 'target_bytes';
    case 431:
      return tooManyFields ? 'header_fields' : 'header_bytes';
    default:
      return undefined;
  }
}
