// A worker process and the wire to it, by node:cluster: all workers share one listen handle, which the primary keeps.
// A connection waits in that handle's queue until some worker takes it, so that none waits for a worker that has died.
import cluster from 'node:cluster';
import { getCompileCacheDir } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Answers, type Connection, connectPeer } from './peer.ts';

export interface WorkerProcess {
  readonly pid: number;
  readonly peer: Connection['peer'];
  /** How it ended: `exit code 1`, `SIGKILL`. */
  readonly ended: Promise<string>;
  readonly kill: () => void;
}

/** `entry`: the file that a worker runs. */
export function forkWorker(entry: URL, answers: Answers): WorkerProcess {
  // Given by the system to whichever worker is free; the other policy would lose what waits in the primary.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({
    exec: fileURLToPath(entry),
    args: [],
    // What this process was started with may not suit one that is started from a file.
    execArgv: [],
    serialization: 'advanced',
  });
  const cache = getCompileCacheDir();
  const worker = cluster.fork(
    cache === undefined ? {} : { NODE_COMPILE_CACHE: cache, NODE_COMPILE_CACHE_PORTABLE: '1' },
  );
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
  return {
    pid: worker.process.pid ?? 0,
    peer,
    ended,
    kill: () => void worker.process.kill('SIGKILL'),
  };
}
