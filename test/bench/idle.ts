// Measures the memory of idle keep-alive connections, each after one request.
import { createConnection, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { stopChild } from './children.ts';
import type { Ground } from './ground.ts';
import { type Peer, type PeerName, startPeer } from './peers.ts';
import { residentMegabytes } from './processor.ts';
import { type BenchRequest, benchRequests, requestHeaders } from './work.ts';

/** Connections opened at once. More could overflow the accept queue. */
const AT_ONCE = 50;
const SETTLED_AFTER_MS = 1_000;

/** Starts each peer anew: after a load, freed memory would hold the connections. */
export async function idleLines(
  names: readonly PeerName[],
  ground: Ground,
  connections: number,
): Promise<readonly string[]> {
  const lines = ['', `Resident memory per idle keep-alive connection, KiB (${connections} connections)`];
  const [request] = benchRequests(ground.tokens.slice(0, 1));
  if (request === undefined) throw new Error('there is nothing to ask');
  for (const name of names) {
    const peer = await startPeer(name, ground, { as: `${name}, idle` });
    // The first connections also compile code and fill pools.
    await grown(peer, connections / 5, request);
    lines.push(`  ${name.padEnd(26)}${await grown(peer, connections, request)}`);
    await stopChild(peer.child.process);
  }
  return lines;
}

/** KiB per connection, or the reason why it is unknown. */
async function grown({ pid, port }: Peer, connections: number, request: BenchRequest): Promise<string> {
  const before = residentMegabytes(pid);
  const sockets = await openIdle(port, connections, request);
  await wait(SETTLED_AFTER_MS);
  const after = residentMegabytes(pid);
  const open = sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length;
  for (const socket of sockets) socket.destroy();
  await wait(SETTLED_AFTER_MS);
  if (open < connections) return `kept ${open} of ${connections} connections`;
  return before === undefined || after === undefined
    ? 'n/a'
    : (((after - before) * 1_024) / connections).toFixed(1);
}

async function openIdle(port: number, connections: number, request: BenchRequest): Promise<Socket[]> {
  const fields = Object.entries(requestHeaders(request)).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `GET ${request.path} HTTP/1.1\r\n${fields.join('')}\r\n`;
  const sockets: Socket[] = [];
  while (sockets.length < connections) {
    const count = Math.min(AT_ONCE, connections - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: count }, () => openOne(port, head)))));
  }
  return sockets;
}

/** Resolves after a whole response, which ends with the upstream's JSON. */
function openOne(port: number, head: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: '127.0.0.1', port }, () => socket.write(head));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      if (!/"\}(\r\n0\r\n\r\n)?$/.test(answer)) return;
      if (answer.startsWith('HTTP/1.1 200')) resolve(socket);
      else reject(new Error(`an idle connection was answered ${answer.slice(0, 40)}`));
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('an idle connection was closed')));
  });
}
