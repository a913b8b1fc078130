// Reads several responses from one connection, as heads and bodies.
import type { Socket } from 'node:net';
import { bodyBehind } from '../differential/messages.ts';

export interface RawAnswers {
  /** Complete responses. */
  readonly answers: readonly { readonly head: string; readonly content: string }[];
  /** Bytes after the last complete response. */
  readonly rest: string;
  readonly ended: boolean;
}

const LAST_CHUNK = '0\r\n\r\n';
const CLOSES = /\r\nconnection: close/i;

/** Reads the responses to requests of `methods`, up to `most` bytes or the end of the connection. */
export function readAnswers(socket: Socket, methods: readonly string[], most: number): Promise<RawAnswers> {
  const answers: { head: string; content: string }[] = [];
  let pieces: string[] = [];
  let held = 0;
  let octets = 0;
  /** Bytes needed before the next parse: a large response comes in many pieces. */
  let needed = 0;
  let isChunked = false;
  let tail = '';
  const { promise, resolve } = Promise.withResolvers<RawAnswers>();

  function look(): void {
    let rest = pieces.join('');
    needed = 0;
    isChunked = false;
    for (let end = rest.indexOf('\r\n\r\n'); end >= 0; end = rest.indexOf('\r\n\r\n')) {
      const head = rest.slice(0, end);
      const body = bodyBehind(head, rest.slice(end + 4), methods[answers.length] === 'HEAD');
      if (!body.isWhole) {
        isChunked = /\r\ntransfer-encoding: chunked/i.test(head);
        needed = isChunked ? 0 : end + 4 + body.octets;
        break;
      }
      answers.push({ head, content: body.content });
      rest = rest.slice(end + 4 + body.octets);
    }
    pieces = [rest];
    held = rest.length;
  }

  function take(chunk: Buffer): void {
    const text = chunk.toString('latin1');
    pieces.push(text);
    held += text.length;
    octets += text.length;
    const isLast = (tail + text).includes(LAST_CHUNK);
    tail = text.slice(1 - LAST_CHUNK.length);
    if (isChunked ? isLast : held >= needed) look();
    // A response with `close` is read until the connection closes.
    const isAll = answers.length >= methods.length && !answers.some(({ head }) => CLOSES.test(head));
    if (octets > most || isAll) done(false);
  }

  function done(ended: boolean): void {
    socket.off('data', take).off('end', onEnd).off('close', onEnd);
    look();
    resolve({ answers, rest: pieces.join(''), ended });
  }
  const onEnd = (): void => done(true);
  socket.on('data', take).once('end', onEnd).once('close', onEnd);
  return promise;
}
