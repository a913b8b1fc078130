// The interfaces that a request of the fast plane uses: its listener and its connection.
import type { Socket } from 'node:net';
import type { ForwardPorts } from '../../upstream/attempts.ts';
import type { ClientConnection } from '../client-connection.ts';
import type { ListenerOptions } from '../port.ts';
import type { AnswerStream } from './answer-stream.ts';
import type { MessageDuplex } from './message-duplex.ts';
import type { ReadHead } from './request-head.ts';

export interface FastPorts extends Omit<ListenerOptions, 'address' | 'socket'>, ForwardPorts {
  readonly scheme: 'https' | 'http';
  /** Each response has `Connection: close`. */
  readonly isDraining: () => boolean;
  /** Each connection closes after its current response, whether or not the response said so. */
  readonly isEnding: () => boolean;
  readonly readHead: ReadHead;
  readonly date: () => string;
}

export interface ConnectionEnds {
  /** Moves the connection to Node's server. */
  readonly handOver: () => void;
  /** Lets Node's server answer one request. */
  readonly serve: (message: MessageDuplex) => void;
  readonly onLeft: () => void;
}

export interface RequestConnection {
  readonly socket: Socket;
  readonly ports: FastPorts;
  readonly known: ClientConnection;
  readonly answers: AnswerStream;
  /** Resumes reading the body. */
  readonly readOn: () => void;
}
