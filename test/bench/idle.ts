// Memory of idle keep-alive connections: many are opened, each serves one request, and then nothing is sent.
import { createConnection, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Ground } from './ground.ts';
import type { Peer } from './peers.ts';
import { residentMegabytes } from './processor.ts';
import { type BenchRequest, benchRequests, requestHeaders } from './work.ts';

/** Opened at once, so that no queue of waiting connections overflows. */
const AT_ONCE = 50;
const SETTLED_AFTER_MS = 1_000;

export async function idleLines(
  peers: readonly Peer[],
  { tokens }: Ground,
  connections: number,
): Promise<readonly string[]> {
  const lines = ['', `Resident memory per idle keep-alive connection, KiB (${connections} connections)`];
  const [request] = benchRequests(tokens.slice(0, 1));
  if (request === undefined) throw new Error('there is nothing to ask');
  for (const peer of peers) {
    const before = residentMegabytes(peer.pid);
    const sockets = await openIdle(peer.port, connections, request);
    await wait(SETTLED_AFTER_MS);
    const after = residentMegabytes(peer.pid);
    const open = sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length;
    for (const socket of sockets) socket.destroy();
    if (open < connections) throw new Error(`${peer.name} kept ${open} of ${connections} connections`);
    const grown = before === undefined || after === undefined ? undefined : (after - before) * 1_024;
    lines.push(`  ${peer.name.padEnd(26)}${grown === undefined ? 'n/a' : (grown / connections).toFixed(1)}`);
  }
  return lines;
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

/** Resolves when the answer has come whole, which ends with the upstream's JSON. */
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
