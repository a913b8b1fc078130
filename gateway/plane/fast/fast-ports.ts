// What a request of the fast plane is given: what its listener has for all of them, and its connection.
import type { Socket } from 'node:net';
import type { ForwardPorts } from '../../upstream/attempts.ts';
import type { ClientConnection } from '../client-connection.ts';
import type { ListenerOptions } from '../port.ts';
import type { AnswerStream } from './answer-stream.ts';
import type { MessageDuplex } from './message-duplex.ts';
import type { ReadHead } from './request-head.ts';

export interface FastPorts extends Omit<ListenerOptions, 'address' | 'socket'>, ForwardPorts {
  readonly scheme: 'https' | 'http';
  /** Each answer says that its connection ends. */
  readonly isDraining: () => boolean;
  /** A connection ends behind the answer under way, whatever that said. */
  readonly isEnding: () => boolean;
  readonly readHead: ReadHead;
  readonly date: () => string;
}

export interface ConnectionEnds {
  /** Node's server has it from now on. */
  readonly handOver: () => void;
  /** Node's server answers one request of it. */
  readonly serve: (message: MessageDuplex) => void;
  readonly onLeft: () => void;
}

export interface RequestConnection {
  readonly socket: Socket;
  readonly ports: FastPorts;
  readonly known: ClientConnection;
  readonly answers: AnswerStream;
  /** More of a body is wanted. */
  readonly readOn: () => void;
}
