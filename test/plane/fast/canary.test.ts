// Each answer is filled with a mark of its own, and no client ever gets an octet of another one's: under slow readers, clients
// that leave, TLS, chunked and sized bodies, side by side.
import { createServer } from 'node:http';
import { type AddressInfo, connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { FUZZ_TIMEOUT_MS } from '../../support/fuzz.ts';
import { forEachTest } from '../gateway-pair.ts';
import { get } from '../raw-sockets.ts';

const { gatewayTo, defer } = forEachTest();

const CLIENTS = 24;
const REQUESTS = 30;
const MOST_BODY = 150_000;

/** Draws from 0 to below 1, the same for a seed. */
function drawing(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const markOf = (path: string): string => `<${path.slice(path.lastIndexOf('/') + 1)}>`;

/** Answers `/echo/<octets>/<how>/<mark>` with that many octets of the mark. */
async function startMarking(): Promise<string> {
  const server = createServer((request, response) => {
    const [, , octets = '0', how] = (request.url ?? '').split('/');
    const mark = markOf(request.url ?? '');
    const body = mark.repeat(Math.ceil(Number(octets) / mark.length));
    if (how === 'sized') response.setHeader('content-length', body.length);
    for (let at = 0; at < body.length; at += 40_000) response.write(body.slice(at, at + 40_000));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Asks one after another, reads in its own time, leaves at times; resolves with what was not its own. */
async function visit(
  port: number,
  isSecure: boolean,
  name: string,
  seed: number,
): Promise<readonly string[]> {
  const draw = drawing(seed);
  const strange: string[] = [];
  const open = (): Socket =>
    isSecure
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, servername: 'api.example.com' })
      : connectPlain(port, '127.0.0.1');
  let socket = open();
  for (let count = 0; count < REQUESTS; count += 1) {
    const how = draw() < 0.5 ? 'sized' : 'chunked';
    const path = `/echo/${Math.floor(draw() * MOST_BODY)}/${how}/${name}-${count}`;
    const leaves = draw() < 0.15;
    const pauses = draw() < 0.3;
    socket.write(get(path), 'latin1');
    const text = await readAnswer(socket, leaves ? Math.floor(draw() * 20_000) : undefined, pauses);
    const body = text
      .slice(text.indexOf('\r\n\r\n') + 4)
      .replace(/\r\n[0-9a-f]+\r\n|^[0-9a-f]+\r\n|\r\n/g, '');
    const foreign = body.replaceAll(markOf(path), '');
    // What is cut ends within a mark, or within the size of a chunk.
    const isOwn = leaves ? markOf(path).startsWith(foreign.replace(/\r?[0-9a-f]*\r?$/, '')) : foreign === '';
    if (!isOwn || (!leaves && !text.startsWith('HTTP/1.1 200')))
      strange.push(`${path}: ${foreign.slice(0, 200)}`);
    if (leaves) {
      socket.destroy();
      socket = open();
    }
  }
  socket.destroy();
  return strange;
}

function readAnswer(socket: Socket, most: number | undefined, pauses: boolean): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    let paused = false;
    const done = (): void => {
      socket.off('data', take).off('error', done).off('close', done);
      resolve(text);
    };
    const take = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      if ((most !== undefined && text.length > most) || isWhole(text)) done();
      else if (pauses && !paused) {
        paused = true;
        socket.pause();
        setTimeout(() => socket.resume(), 20);
      }
    };
    socket.on('data', take);
    socket.once('error', done);
    socket.once('close', done);
  });
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1];
  return length === undefined ? text.endsWith('\r\n0\r\n\r\n') : text.length >= end + 4 + Number(length);
}

describe.each([false, true])('over TLS: %s', (tls) => {
  it('no answer holds an octet of another one', { timeout: FUZZ_TIMEOUT_MS }, async () => {
    const gateway = await gatewayTo([await startMarking()], {}, { plane: 'fast', tls });
    const seed = Math.floor(Math.random() * 2 ** 31);
    const visits = Array.from({ length: CLIENTS }, (_, at) => visit(gateway.port, tls, `c${at}`, seed + at));
    expect((await Promise.all(visits)).flat(), `seed ${seed}`).toEqual([]);
  });
});
