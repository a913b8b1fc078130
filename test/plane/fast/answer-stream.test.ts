// Pieces of a response on the fast plane are written together.
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { AnswerStream } from '../../../gateway/plane/fast/answer-stream.ts';

/** A connection to a server that reads everything and never responds. */
async function openSocket(): Promise<Socket> {
  const server = createServer((accepted) => void accepted.on('error', () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  const socket = connect(typeof bound === 'object' && bound !== null ? bound.port : 0, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return socket;
}

const HEAD = 'HTTP/1.1 200 OK\r\n';

it('writes all pieces of one event loop iteration together, in its write stage', async () => {
  const socket = await openSocket();
  let writes = 0;
  const { write } = socket;
  socket.write = ((...given: Parameters<Socket['write']>) => {
    writes += 1;
    return write.apply(socket, given);
  }) as Socket['write'];
  let ended = 0;
  const answer = new AnswerStream(socket, () => {
    ended += 1;
  });
  answer.head(HEAD, 'chunked');
  answer.write(Buffer.from('hello'));
  answer.write(Buffer.from('world'));
  answer.end();
  expect([writes, ended]).toEqual([0, 0]);
  await nextIteration();
  const whole = `${HEAD}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n`;
  expect([writes, socket.bytesWritten, ended]).toEqual([1, whole.length, 1]);
});

it('writes immediately once it holds more than 16 KiB', async () => {
  const socket = await openSocket();
  const answer = new AnswerStream(socket, () => undefined);
  answer.head(HEAD, 'sized');
  answer.write(Buffer.alloc(16 * 1_024, 'x'));
  expect(socket.bytesWritten).toBe(HEAD.length + 2 + 16 * 1_024);
  await nextIteration();
});
