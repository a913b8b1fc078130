// A refusal for bytes that are no request: there is no response object, only the connection.
// Asked by request-life.ts when nothing before those bytes is still waiting for its answer.
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Refusal } from '../exchange/directive.ts';
import type { Exchange, Observer } from '../exchange/exchange.ts';
import type { ClientAddress } from './client-address.ts';
import { writeToSocket } from './write-answer.ts';

export interface UnparsedPorts {
  readonly scheme: 'https' | 'http';
  readonly exchange: Exchange;
  readonly observer: Observer;
  /** The real clock, epoch milliseconds, for the Date of answers that Node does not write. */
  readonly now: () => number;
}

/** Answers on the bare connection, ends it, and has it observed (ERR-3). */
export function refuseOnSocket(
  refusal: Refusal,
  socket: Socket,
  client: ClientAddress,
  { exchange, observer, scheme, now }: UnparsedPorts,
): void {
  const facts = exchange.begin(randomUUID());
  const made = exchange.refuse(refusal, facts, { scheme, headers: {} });
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
