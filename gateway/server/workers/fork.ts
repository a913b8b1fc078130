// A worker process and the wire to it. All workers accept on the sockets that the primary holds and gives to each of them.
// A connection waits in such a socket's queue until some worker takes it, so that none waits for a worker that has died.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Answers, type Connection, connectPeer } from './peer.ts';

export interface WorkerProcess {
  readonly pid: number;
  readonly peer: Connection['peer'];
  /** How it ended: `exit code 1`, `SIGKILL`. */
  readonly ended: Promise<string>;
  readonly kill: () => void;
}

/** `entry`: the file that a worker runs. `descriptors`: what it is given besides its streams, from `FIRST_DESCRIPTOR` on. */
export function forkWorker(entry: URL, answers: Answers, descriptors: readonly number[]): WorkerProcess {
  const worker = fork(fileURLToPath(entry), [], {
    // What this process was started with may not suit one that is started from a file.
    execArgv: [],
    serialization: 'advanced',
    // Of streams that it inherits, the system would make waiting ones, for this process as well: a log that nobody reads any
    // more would then hold a thread of it for ever. What a worker has to say is said by its primary.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', ...descriptors],
  });
  worker.stderr?.on('data', (words: Buffer) => void process.stderr.write(words));
  const { peer, lost } = connectPeer(
    {
      // The end of the process says what a failed send would.
      send: (message) => void worker.send(message, () => undefined),
      onMessage: (listener) => void worker.on('message', listener),
    },
    answers,
  );
  const ended = new Promise<string>((resolve) => {
    worker.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    // Its process could not be made, or not be reached.
    worker.once('error', (error) => resolve(error.message));
  });
  void ended.then((how) => lost(`the worker has ended (${how})`));
  return { pid: worker.pid ?? 0, peer, ended, kill: () => void worker.kill('SIGKILL') };
}
