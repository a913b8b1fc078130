// A service that answers with its name, can be killed with its connections, and restarts at the same port.
import { createServer, type Server } from 'node:http';
import { freePorts } from './ports.ts';

export interface NamedService extends AsyncDisposable {
  readonly url: string;
  /** Requests answered, without health checks. */
  readonly answered: () => number;
  readonly checks: () => number;
  /** Status of its health checks from now on. */
  readonly feel: (status: number) => void;
  readonly kill: () => Promise<void>;
  readonly comeBack: () => Promise<void>;
}

/** Not started: the first `comeBack` starts it. */
export async function namedService(name: string): Promise<NamedService> {
  const [port] = await freePorts(1);
  let health = 200;
  let answered = 0;
  let checks = 0;
  let server: Server | undefined;

  function comeBack(): Promise<void> {
    const started = createServer((request, response) => {
      if (request.url === '/healthz') {
        checks += 1;
        response.writeHead(health).end('health');
        return;
      }
      answered += 1;
      response.end(name);
    });
    server = started;
    return new Promise((resolve, reject) => {
      started.once('error', reject);
      started.listen(port, '127.0.0.1', resolve);
    });
  }

  function kill(): Promise<void> {
    const stopped = server;
    server = undefined;
    return new Promise((resolve) => {
      if (stopped === undefined) return resolve();
      stopped.close(() => resolve());
      stopped.closeAllConnections();
    });
  }

  return {
    url: `http://127.0.0.1:${port}`,
    answered: () => answered,
    checks: () => checks,
    feel: (status) => {
      health = status;
    },
    kill,
    comeBack,
    [Symbol.asyncDispose]: kill,
  };
}
