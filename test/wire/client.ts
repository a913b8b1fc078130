// Writes the octets of a case and reads until the responses are complete, or a close, or a timeout.
import { connect as connectPlain, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { type Answer, finalAnswers, readAnswers } from './answers.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly serverName: string;
}

export interface Sending {
  readonly pieces: readonly string[];
  readonly gapMs?: number;
  readonly end?: 'fin' | 'reset';
  readonly methods: readonly string[];
  readonly answers: number;
  readonly patienceMs: number;
  /** Sent after the first final response. */
  readonly after?: string;
  /** The octets of a tunnel to wait for after a 101. */
  readonly heard?: string;
}

export interface Received {
  readonly answers: readonly Answer[];
  readonly closed: boolean;
}

/** By then a second response, or the end of the connection, would have arrived. */
const QUIET_MS = 60;
const CLOSING_MS = 10_000;

// One context and session for all connections: hundreds of full handshakes would take longer than all cases.
const CONTEXT = createSecureContext();
const sessions = new Map<string, Buffer>();

export function dial({ host, port, tls, serverName }: Address, protocol = 'http/1.1'): Socket {
  if (!tls) return connectPlain({ host, port, allowHalfOpen: true });
  const known = `${host}:${port} ${protocol}`;
  const session = sessions.get(known);
  const socket = connectTls({
    host,
    port,
    servername: serverName,
    rejectUnauthorized: false,
    ALPNProtocols: [protocol],
    secureContext: CONTEXT,
    ...(session === undefined ? {} : { session }),
  });
  socket.on('session', (made: Buffer) => void sessions.set(known, made));
  return socket;
}

/** Sends the pieces and reads the responses. Never rejects: a refused connection counts as closed. */
export async function converse(address: Address, sending: Sending): Promise<Received> {
  const socket = dial(address);
  socket.setNoDelay(true);
  let text = '';
  let closed = false;
  let wake = (): void => undefined;
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
    wake();
  });
  socket.on('error', () => undefined);
  for (const event of ['end', 'close'])
    socket.once(event, () => {
      closed = true;
      wake();
    });
  const answers = (): Answer[] => readAnswers(text, sending.methods, closed);
  const more = (ms: number): Promise<boolean> =>
    new Promise((resolve) => {
      const limit = setTimeout(() => resolve(false), ms);
      wake = () => {
        clearTimeout(limit);
        resolve(true);
      };
    });
  const written = write(socket, sending);
  const deadline = performance.now() + sending.patienceMs;
  let after = sending.after;
  while (!closed && performance.now() < deadline) {
    const finals = finalAnswers(answers());
    const answered = finals.length >= sending.answers && finals.every((each) => each.complete);
    if (answered && after !== undefined) {
      socket.write(after, 'latin1');
      after = undefined;
      await more(300);
      continue;
    }
    const heard = finals.every(({ status, body }) => status !== 101 || body.includes(sending.heard ?? ''));
    const enough = answered && heard;
    const ending = finals.some((each) => each.fields.some(saysClose));
    if (!(await more(enough ? (ending ? CLOSING_MS : QUIET_MS) : deadline - performance.now()))) break;
  }
  await written;
  const received = { answers: answers(), closed };
  socket.destroy();
  return received;
}

const saysClose = ([name, value]: readonly [string, string]): boolean =>
  name === 'connection' && /\bclose\b/i.test(value);

async function write(socket: Socket, { pieces, gapMs, end }: Sending): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await wait(gapMs ?? 0);
    if (socket.destroyed) return;
    socket.write(piece, 'latin1');
  }
  if (end === 'fin') socket.end();
  if (end === 'reset') {
    // A reset must not overtake the octets.
    await wait(80);
    socket.destroy();
  }
}
