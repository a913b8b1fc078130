// A port whose TCP handshakes never finish: with a full accept queue the kernel drops SYNs.
import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';

export interface UnresponsivePort extends AsyncDisposable {
  readonly url: string;
}

/** The smallest queue, and what the kernel accepts beyond it. */
const BACKLOG = 1;
const HELD = BACKLOG + 1;

const LISTEN_AND_SLEEP = `
const { parentPort, workerData } = require('node:worker_threads');
const server = require('node:net').createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: ${BACKLOG} }, () => {
  parentPort.postMessage(server.address().port);
  setImmediate(() => Atomics.wait(new Int32Array(workerData), 0, 0));
});`;

export async function startUnresponsivePort(): Promise<UnresponsivePort> {
  const worker = new Worker(LISTEN_AND_SLEEP, { eval: true, workerData: new SharedArrayBuffer(4) });
  const [port] = await once(worker, 'message');
  const sockets = Array.from({ length: HELD }, () => connect(port, '127.0.0.1'));
  for (const socket of sockets) socket.on('error', () => undefined);
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await worker.terminate();
    },
  };
}
