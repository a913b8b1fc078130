// Measures the memory of a new gateway for each client that requests a large response and does not read it.
import { createServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { startProcess } from '../support/gateway-process.ts';

const READERS = 1_000;
/** By then the process has made its one-time allocations, such as its young generation. */
const FIRST_READERS = 250;
const PIECE = Buffer.alloc(64 * 1_024, 'x');
/** By then the thread that reads policies has ended. */
const STARTS_WITHIN_MS = 12_000;
const LOOK_EVERY_MS = 1_000;
const LOOKS_AT_REST = 3;
const AT_REST_MB = 1;

export interface StalledReaders {
  /** Kilobytes for each reader after the first ones. */
  readonly eachKb: number;
  /** Kilobytes for each reader, one-time allocations included. */
  readonly withStartKb: number;
}

/** `folder`: data folder of the gateway. `residentMb`: returns the resident memory of a process. */
export async function measureStalledReaders(
  folder: string,
  residentMb: (pid: number) => Promise<number>,
): Promise<StalledReaders> {
  await using stack = new AsyncDisposableStack();
  const upstream = createServer((_request, response) => {
    // Endless, as fast as it is read.
    const endless = new Readable({ read: () => void endless.push(PIECE) });
    response.on('error', () => undefined);
    endless.pipe(response);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const gateway = stack.use(
    startProcess(['run', '-c', 'test/slow/gateway.yaml'], {
      DATA: folder,
      STORE: `embedded:${folder}`,
      UPSTREAM: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      POLICIES: join(import.meta.dirname, 'stalled.yaml'),
    }),
  );
  const { https: port } = await gateway.ready;
  await wait(STARTS_WITHIN_MS);

  const stall = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const options = { port, path: '/api/stalled', rejectUnauthorized: false, agent: false };
      const call = request(options, (answer) => {
        answer.pause();
        if (answer.statusCode === 200) resolve();
        else reject(new Error(`a reader got ${answer.statusCode}`));
      });
      call.on('error', reject).end();
      stack.defer(() => void call.destroy());
    });
  async function megabytesWith(more: number): Promise<number> {
    await Promise.all(Array.from({ length: more }, stall));
    let [most, looks] = [0, 0];
    while (looks < LOOKS_AT_REST) {
      await wait(LOOK_EVERY_MS);
      const now = await residentMb(gateway.pid);
      looks = now > most + AT_REST_MB ? 0 : looks + 1;
      most = Math.max(most, now);
    }
    return most;
  }
  const started = await residentMb(gateway.pid);
  const first = await megabytesWith(FIRST_READERS);
  const all = await megabytesWith(READERS - FIRST_READERS);
  return {
    eachKb: ((all - first) * 1_024) / (READERS - FIRST_READERS),
    withStartKb: ((all - started) * 1_024) / READERS,
  };
}
