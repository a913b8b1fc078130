// Whether a Redis answers under its URL, with the user, password and database that stand there: AUTH, SELECT and PING.
// A few bytes of its protocol by hand; of what it answers only the code of an error is shown, never the URL.
import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { connectionFault } from '../connection-words.ts';
import type { Bounds } from './bounded.ts';

const MOST_BYTES = 4 * 1024;

/** What is wrong, or undefined. `url` is redis or rediss. */
export async function pingRedis(url: string, { signal, seconds }: Bounds): Promise<string | undefined> {
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || 6379 };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const secure = protocol === 'rediss:';
  const socket = secure ? connectTls({ ...address, servername: address.host }) : connectPlain(address);
  const commands = [
    ...(password === ''
      ? []
      : [['AUTH', ...(username === '' ? [] : [username]), password].map(decodeURIComponent)]),
    ...(pathname.length > 1 ? [['SELECT', pathname.slice(1)]] : []),
    ['PING'],
  ];
  let answer = '';
  const abort = () => reject(signal.reason);
  socket.once(secure ? 'secureConnect' : 'connect', () => socket.write(commands.map(encoded).join('')));
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
    const lines = answer.split('\r\n').length - 1;
    if (lines >= commands.length || /^-/m.test(answer) || answer.length > MOST_BYTES) resolve(answer);
  });
  socket.once('end', () => resolve(answer));
  socket.once('error', reject);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return judge(await promise);
  } catch (error) {
    return connectionFault(error, seconds);
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}

function encoded(words: readonly string[]): string {
  const each = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${words.length}\r\n${each.join('')}`;
}

function judge(answer: string): string | undefined {
  if (/^-ERR (?:DB index|invalid DB)/im.test(answer)) return 'it has no such database';
  const code = /^-([A-Z]{2,20})\b/m.exec(answer)?.[1];
  if (code !== undefined) return `it refuses (${code})`;
  return /^\+PONG\r$/m.test(answer) ? undefined : 'what answers there is no Redis';
}
