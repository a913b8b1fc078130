// A few commands to a Redis and what it says, by a few bytes of its protocol.
// ping-redis.ts asks and judges; nothing of what is sent here is ever shown.
import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { RedisServer } from '../../plan/redis-address.ts';

const MOST_BYTES = 4 * 1024;

/** The answers as they came, up to the first error. @throws whatever the connection fails with, or the reason of `signal` */
export async function talkToRedis(
  { host, port }: RedisServer,
  commands: readonly (readonly string[])[],
  { secure, signal }: { readonly secure: boolean; readonly signal: AbortSignal },
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // An address is no server name (RFC 6066 section 3).
  const name = isIP(host) === 0 ? { servername: host } : {};
  const socket = secure ? connectTls({ host, port, ...name }) : connectPlain({ host, port });
  let answer = '';
  const abort = () => reject(signal.reason);
  socket.once(secure ? 'secureConnect' : 'connect', () => socket.write(commands.map(encoded).join('')));
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
    if (answersIn(answer) >= commands.length || /^-/m.test(answer) || answer.length > MOST_BYTES)
      resolve(answer);
  });
  socket.once('end', () => resolve(answer));
  socket.once('error', reject);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', abort);
    socket.destroy();
  }
}

function encoded(words: readonly string[]): string {
  const each = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${words.length}\r\n${each.join('')}`;
}

/** Whole answers: a line, a text with its length before it, or a list of texts. */
function answersIn(text: string): number {
  let [from, count, inList] = [0, 0, 0];
  for (;;) {
    const end = text.indexOf('\r\n', from);
    if (end < 0) return count;
    const [kind, size] = [text[from], Number(text.slice(from + 1, end))];
    from = end + 2;
    if (kind === '$' && size >= 0) from += size + 2;
    if (from > text.length) return count;
    if (kind === '*' && size > 0) inList = size;
    else if (inList > 1) inList -= 1;
    else {
      inList = 0;
      count += 1;
    }
  }
}
