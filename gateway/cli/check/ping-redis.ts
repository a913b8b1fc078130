// Checks that a Redis, a cluster or a primary behind sentinels accepts the login and database of its URL.
import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import {
  type RedisAddress,
  type RedisLogin,
  type RedisServer,
  redisAddress,
} from '../../stores/redis-address.ts';
import { connectionFault } from '../connection-words.ts';
import type { LiveCheckBounds } from './live-attempts.ts';

const MAX_BYTES = 4 * 1024;

/** The problem, or undefined. It contains only the error code of a reply, never the URL. */
export async function pingRedis(
  url: string,
  { signal, seconds }: LiveCheckBounds,
): Promise<string | undefined> {
  const address = redisAddress(url);
  if (address === undefined) return 'this is not the URL of a Redis';
  try {
    return await judged(address, signal);
  } catch (error) {
    return connectionFault(error, seconds);
  }
}

async function judged(address: RedisAddress, signal: AbortSignal): Promise<string | undefined> {
  const { kind, secure, login, servers } = address;
  const ask = (server: RedisServer, commands: readonly (readonly string[])[], as: RedisLogin = login) =>
    talkToRedis(server, [...signingIn(as), ...commands], { secure, signal });
  const [first] = servers;
  if (first === undefined) return 'it names no server';
  switch (kind) {
    case 'single':
      return judgePong(await ask(first, [...choosing(address.database), ['PING']]));
    case 'cluster':
      return judgeCluster(await firstAnswer(servers, (server) => ask(server, [['CLUSTER', 'INFO']])));
    case 'sentinel': {
      const where = [['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', address.primary]];
      const reply = await firstAnswer(servers, (server) => ask(server, where, address.sentinelLogin));
      const primary = primaryIn(reply);
      if (primary === undefined) return refusal(reply) ?? 'its sentinels know no primary of that name';
      return judgePong(await ask(primary, [...choosing(address.database), ['PING']]));
    }
    default:
      return kind satisfies never;
  }
}

/** One answer is enough. Without any, throws the error of the first server. */
async function firstAnswer(
  servers: readonly RedisServer[],
  ask: (server: RedisServer) => Promise<string>,
): Promise<string> {
  try {
    return await Promise.any(servers.map(ask));
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error;
  }
}

function signingIn({ username, password }: RedisLogin): readonly (readonly string[])[] {
  return password === undefined ? [] : [['AUTH', ...(username === undefined ? [] : [username]), password]];
}

function choosing(database: number): readonly (readonly string[])[] {
  return database === 0 ? [] : [['SELECT', String(database)]];
}

function judgePong(answer: string): string | undefined {
  if (/^-ERR (?:DB index|invalid DB)/im.test(answer)) return 'it has no such database';
  return refusal(answer) ?? (/^\+PONG\r$/m.test(answer) ? undefined : 'what answers there is no Redis');
}

function judgeCluster(answer: string): string | undefined {
  if (/^-ERR .*cluster support disabled/im.test(answer)) return 'it is no cluster: write redis://';
  const state = /^cluster_state:(\w+)\r$/m.exec(answer)?.[1];
  if (state === 'ok') return undefined;
  return refusal(answer) ?? (state === undefined ? 'what answers there is no Redis' : 'the cluster is down');
}

function refusal(answer: string): string | undefined {
  const code = /^-([A-Z]{2,20})\b/m.exec(answer)?.[1];
  return code === undefined ? undefined : `it refuses (${code})`;
}

/** A RESP array of two bulk strings. */
function primaryIn(answer: string): RedisServer | undefined {
  const [, host, port] = /^\*2\r\n\$\d+\r\n(.*)\r\n\$\d+\r\n(\d+)\r\n/m.exec(answer) ?? [];
  return host === undefined ? undefined : { host, port: Number(port) };
}

/** Replies as received, up to the first error. @throws the connection's error, or the reason of `signal` */
async function talkToRedis(
  { host, port }: RedisServer,
  commands: readonly (readonly string[])[],
  { secure, signal }: { readonly secure: boolean; readonly signal: AbortSignal },
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // An IP address is not a server name (RFC 6066 §3).
  const name = isIP(host) === 0 ? { servername: host } : {};
  const socket = secure ? connectTls({ host, port, ...name }) : connectPlain({ host, port });
  let answer = '';
  const abort = () => reject(signal.reason);
  socket.once(secure ? 'secureConnect' : 'connect', () => socket.write(commands.map(encoded).join('')));
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
    if (answersIn(answer) >= commands.length || /^-/m.test(answer) || answer.length > MAX_BYTES)
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

/** Number of complete replies: a line, a bulk string, or an array of bulk strings. */
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
