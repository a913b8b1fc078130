// What a request of the fast plane is given: what its listener has for all of them, and its connection.
import type { Socket } from 'node:net';
import type { ForwardPorts } from '../../upstream/attempts.ts';
import type { ClientConnection } from '../client-connection.ts';
import type { ListenerOptions } from '../port.ts';
import type { AnswerStream } from './answer-stream.ts';
import type { MessageDuplex } from './message-duplex.ts';
import type { ReadHead } from './request-head.ts';

/** What the connections of a listener have in common. */
export interface FastPorts extends Omit<ListenerOptions, 'address' | 'socket'>, ForwardPorts {
  readonly scheme: 'https' | 'http';
  readonly isDraining: () => boolean;
  readonly readHead: ReadHead;
  /** The value of Date at this moment. */
  readonly date: () => string;
}

/** Where a connection goes on. */
export interface ConnectionEnds {
  /** Node's server has it from now on. */
  readonly handOver: () => void;
  /** Node's server answers one request of it. */
  readonly serve: (message: MessageDuplex) => void;
  /** It is none of this plane any more. */
  readonly onLeft: () => void;
}

/** The connection as its request uses it. */
export interface Carrier {
  readonly socket: Socket;
  readonly ports: FastPorts;
  readonly known: ClientConnection;
  readonly answers: AnswerStream;
  /** More of a body is wanted. */
  readonly readOn: () => void;
}
