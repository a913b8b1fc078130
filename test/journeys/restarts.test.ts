// A service manager holds the sockets over restarts (sd_listen_fds(3)): no request is refused, reset or lost.
import { mkdtemp, open, rm } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { get as getTls, Agent as TlsAgent } from 'node:https';
import { BoundSocket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { type GatewayProcess, startProcess } from '../support/gateway-process.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';

const stack = new AsyncDisposableStack();
let echo: Service;
let issuer: TestIssuer;
let folder = '';

beforeAll(async () => {
  echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  folder = await mkdtemp(join(tmpdir(), 'sundial-restarts-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
});
afterAll(() => stack.disposeAsync());

interface Held {
  readonly https: number;
  readonly http: number;
  readonly start: (
    environment?: Readonly<Record<string, string>>,
    descriptors?: readonly number[],
  ) => GatewayProcess;
}

/** Holds two sockets, as systemd does, and starts gateways with them. */
function holdSockets(names = 'https:http'): Held {
  const sockets = [1, 2].map(() => new BoundSocket({ host: '127.0.0.1', port: 0 }));
  for (const socket of sockets) stack.defer(() => socket.close());
  const [https = 0, http = 0] = sockets.map((socket) => socket.address().port);
  const data = join(folder, String(https));
  return {
    ...{ https, http },
    start: (more = {}, descriptors = sockets.map((socket) => socket.fd())) =>
      stack.use(
        startProcess(
          ['run', '-c', 'test/journeys/restarts.yaml'],
          {
            ...{ HTTPS: String(https), HTTP: String(http), DATA: data, STORE: `embedded:${data}` },
            ...{ ISSUER: issuer.url, ECHO: echo.url, UPSTREAM: echo.url },
            POLICIES: join(import.meta.dirname, 'drain', 'slow.yaml'),
            ...{ LISTEN_FDS: '2', LISTEN_FDNAMES: names, ...more },
          },
          // systemd knows the process id before the program starts.
          ['sh', '-c', `[ -n "$PID" ] || PID=$$; LISTEN_PID=$PID exec "$0" "$@"`],
          undefined,
          descriptors,
        ),
      ),
  };
}

interface Load {
  readonly answered: number;
  readonly longestMs: number;
  readonly failures: readonly string[];
}

/** After a longer pause of this process, a client may exceed the second that its last request has. */
const LONGEST_PAUSE_MS = 300;

/** Clients that send requests until `signal` aborts. Some keep their connection, some open one per request. */
async function load({ https, http }: Held, signal: AbortSignal): Promise<Load> {
  const failures: string[] = [];
  let answered = 0;
  let longestMs = 0;
  let pausedAt = Number.NEGATIVE_INFINITY;
  let ranAt = performance.now();
  const watch = setInterval(() => {
    const now = performance.now();
    if (now - ranAt > LONGEST_PAUSE_MS) pausedAt = now;
    ranAt = now;
  }, 20);
  const client = async (isTls: boolean, keepAlive: boolean): Promise<void> => {
    const agent = isTls
      ? new TlsAgent({ keepAlive, maxSockets: 1 })
      : new Agent({ keepAlive, maxSockets: 1 });
    const url = isTls ? `https://127.0.0.1:${https}/api/slow` : `http://127.0.0.1:${http}/api/slow`;
    while (!signal.aborted) {
      await sleep(10);
      const began = performance.now();
      await new Promise<void>((resolve) => {
        const options = { agent, rejectUnauthorized: false };
        const request = (isTls ? getTls : get)(url, options, (response) => {
          if (response.statusCode !== 200) failures.push(`status ${response.statusCode}`);
          response.resume().once('error', ({ message }) => failures.push(`inside the answer: ${message}`));
          response.once('close', resolve);
        });
        request.once('error', ({ message }) => {
          const now = performance.now();
          const kind = `${isTls ? 'https' : 'http'}, ${keepAlive ? 'kept' : 'new'}`;
          if (now - pausedAt > 2_000)
            failures.push(`${kind}, after ${(now - began).toFixed(0)} ms: ${message}`);
          resolve();
        });
      });
      answered += 1;
      longestMs = Math.max(longestMs, performance.now() - began);
    }
    agent.destroy();
  };
  await Promise.all(
    [true, false].flatMap((isTls) => [true, true, false].map((keepAlive) => client(isTls, keepAlive))),
  );
  clearInterval(watch);
  return { answered, longestMs, failures };
}

describe('a restart with sockets of the service manager', () => {
  it.each([
    ['in one process', 10, '1'],
    ['with workers', 3, '2'],
  ])(
    'refuses no connection, and resets none before a response, %s, %i times',
    async (_kind, restarts, workers) => {
      const held = holdSockets();
      let gateway = held.start({ WORKERS: workers });
      await gateway.ready;
      const end = new AbortController();
      const loaded = load(held, end.signal);
      for (let done = 0; done < restarts; done += 1) {
        await sleep(100);
        gateway.kill('SIGTERM');
        // Much sooner than the wait of its gateway file.
        expect(await gateway.ended).toBe(0);
        gateway = held.start({ WORKERS: workers });
        await gateway.ready;
      }
      end.abort();
      const { answered, longestMs, failures } = await loaded;
      process.stdout.write(
        `${restarts} restarts, ${answered} requests, longest ${longestMs.toFixed(0)} ms\n`,
      );
      expect(failures).toEqual([]);
      expect(answered).toBeGreaterThan(restarts);
    },
  );
});

describe('invalid sockets of the service manager', () => {
  it.each([
    ['an unknown listener name', 'https:web', 'socket 4 of the service manager has the name "web"'],
    ['no names', '', 'socket 3 of the service manager has the name ""'],
    ['a repeated name', 'https:https', 'two sockets of the service manager have the name https'],
  ])('%s: exit 3 with the reason', async (_kind, names, message) => {
    const gateway = holdSockets(names).start();
    expect(await gateway.ended).toBe(3);
    expect(gateway.stderr).toContain(message);
  });

  it('a Unix socket: exit 3 with the reason', async () => {
    const held = holdSockets();
    const listening = createServer().listen(join(folder, 'a.sock'));
    stack.defer(() => void listening.close());
    const { fd } = Reflect.get(listening, '_handle') as { readonly fd: number };
    const gateway = held.start({}, [fd, fd]);
    expect(await gateway.ended).toBe(3);
    expect(gateway.stderr).toContain('is not a TCP socket');
  });

  it.each(['1', '2'])('a file, with %s processes: exit 3 with the reason', async (workers) => {
    const file = await open(import.meta.filename);
    stack.defer(() => file.close());
    const gateway = holdSockets().start({ WORKERS: workers }, [file.fd, file.fd]);
    expect(await gateway.ended).toBe(3);
    expect(gateway.stderr).toContain(
      'cannot start: the socket that was passed for a public listener is not a TCP',
    );
  });

  it('sockets of another process: the gateway binds its own', async () => {
    const held = holdSockets('web');
    const gateway = held.start({ PID: '1' });
    expect(await gateway.ready).toMatchObject({ https: held.https });
  });
});
