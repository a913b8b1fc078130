// Forks a worker process and connects to it. All workers accept on sockets that the primary has bound.
import { fork } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { closeSync } from 'node:fs';
import { BoundSocket, isIP } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Address, Settings } from '../../plan/settings.ts';
import type { PublicSockets } from '../public-listeners.ts';
import { type Answers, connectPeer, type PeerConnection } from './peer.ts';

export interface WorkerProcess {
  readonly pid: number;
  readonly peer: PeerConnection['peer'];
  /** For example `exit code 1` or `SIGKILL`. */
  readonly ended: Promise<string>;
  readonly kill: () => void;
}

/** `entry`: the file that the worker runs. `descriptors`: passed to it from `FIRST_DESCRIPTOR` on. */
export function forkWorker(entry: URL, answers: Answers, descriptors: readonly number[]): WorkerProcess {
  const worker = fork(fileURLToPath(entry), [], {
    // The options of this process may not suit a process started from a file.
    execArgv: [],
    serialization: 'advanced',
    // Inherited streams would be blocking, also for this process: a log pipe without a reader would block it. The
    // primary writes the log lines of workers.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', ...descriptors],
  });
  worker.stderr?.on('data', (words: Buffer) => void process.stderr.write(words));
  const { peer, lost } = connectPeer(
    {
      // A send fails only if the process has ended, which `ended` reports.
      send: (message) => void worker.send(message, () => undefined),
      onMessage: (listener) => void worker.on('message', listener),
    },
    answers,
  );
  const ended = new Promise<string>((resolve) => {
    worker.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    // The process could not be started or reached.
    worker.once('error', (error) => resolve(error.message));
  });
  void ended.then((how) => lost(`the worker has ended (${how})`));
  return { pid: worker.pid ?? 0, peer, ended, kill: () => void worker.kill('SIGKILL') };
}

interface HeldSockets {
  readonly descriptors: readonly number[];
  readonly inWorker: PublicSockets;
  /** Closes the primary's copies. Workers close their own. */
  readonly release: () => void;
}

/** The first free descriptor in a worker, after its three streams and the IPC channel. */
const FIRST_DESCRIPTOR = 4;
const EVERY_IPV6_AND_IPV4 = '::';
const EVERY_IPV4 = '0.0.0.0';
const WITHOUT_IPV6: readonly unknown[] = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'];

/**
 * `inherited`: used instead of binding. @throws the system's error if an address cannot be bound; all are closed then
 */
export async function holdSockets(
  { https, http }: Settings['listeners'],
  inherited: PublicSockets | undefined,
): Promise<HeldSockets> {
  const sockets: Pick<BoundSocket, 'fd' | 'close'>[] = [];
  const release = (): void => {
    for (const socket of sockets.splice(0)) socket.close();
  };
  const hold = async (
    listener: { readonly address: Address } | undefined,
    fd: number | undefined,
  ): Promise<number | undefined> => {
    if (listener === undefined) return undefined;
    const socket =
      fd === undefined ? await bind(listener.address) : { fd: () => fd, close: () => closeSync(fd) };
    return FIRST_DESCRIPTOR - 1 + sockets.push(socket);
  };
  try {
    const inWorker = {
      https: await hold(https, inherited?.https),
      http: await hold(http, inherited?.http),
      stayOpen: inherited?.stayOpen === true,
    };
    return { inWorker, descriptors: sockets.map((socket) => socket.fd()), release };
  } catch (error) {
    release();
    throw error;
  }
}

async function bind({ host, port }: Address): Promise<BoundSocket> {
  if (host !== undefined) return new BoundSocket({ host: await numeric(host), port });
  try {
    return new BoundSocket({ host: EVERY_IPV6_AND_IPV4, port });
  } catch (error) {
    if (!(error instanceof Error && WITHOUT_IPV6.includes(Reflect.get(error, 'code')))) throw error;
    return new BoundSocket({ host: EVERY_IPV4, port });
  }
}

async function numeric(host: string): Promise<string> {
  return isIP(host) === 0 ? (await lookup(host)).address : host;
}
