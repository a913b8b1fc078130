// The process: its messages and exit codes when it cannot start, and its reactions to signals.
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { type GatewayProcess, startProcess } from '../support/gateway-process.ts';
import { overHttp1, overHttp2 } from '../support/http-client.ts';
import { untilInFlight } from '../support/until-in-flight.ts';

const stack = new AsyncDisposableStack();
const RUN = ['run', '-c', 'test/journeys/gateway.yaml'];
let perTest = new AsyncDisposableStack();
let echo: Service;
let folder = '';

beforeAll(async () => {
  echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
});
afterAll(() => stack.disposeAsync());
beforeEach(async () => {
  perTest = new AsyncDisposableStack();
  folder = await openFolder(perTest);
});
afterEach(() => perTest.disposeAsync());

/** A folder with one policy, and a file that the policy reads. */
async function openFolder(until: AsyncDisposableStack): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'sundial-start-'));
  until.defer(() => rm(made, { recursive: true, force: true }));
  const text = await readFile(join(import.meta.dirname, 'start/good/orders.yaml'), 'utf8');
  await writeFile(join(made, 'orders.yaml'), text.replace('/NOTE', join(made, 'note.txt')));
  await writeFile(join(made, 'note.txt'), 'one');
  return made;
}

const environment = (more: Readonly<Record<string, string>> = {}, within = folder) => ({
  DATA: join(within, 'data'),
  STORE: `embedded:${join(within, 'data')}`,
  ISSUER: 'http://127.0.0.1:9',
  POLICIES: join(within, '*.yaml'),
  ECHO: echo.url,
  ...more,
});
const start = (more?: Readonly<Record<string, string>>): GatewayProcess =>
  perTest.use(startProcess(RUN, environment(more)));

const isRefused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(false));
    socket.once('error', () => resolve(true));
    socket.once('close', () => socket.destroy());
  });

describe('the process does not start', () => {
  it('with a bad policy file: exit 1 with every problem and its position', async () => {
    const gateway = start({ POLICIES: 'start/bad/*.yaml' });
    expect(await gateway.ended).toBe(1);
    expect(gateway.stderr).toMatch(/^test\/journeys\/start\/bad\/orders\.yaml:7:1: error: .*limts/m);
    expect(gateway.stderr).toMatch(
      /^test\/journeys\/start\/bad\/orders\.yaml:14:13: error: sunset \(2025-01-15\) is before/m,
    );
    expect(gateway.stderr).toMatch(
      /^test\/journeys\/start\/bad\/orders\.yaml:15:16: error: no version is called "v2"/m,
    );
    expect(gateway.stderr).toMatch(/\^\^\^/);
    expect(gateway.stderr).toMatch(/did you mean "?limits"?/);
    expect(gateway.stdout).toBe('');
  });

  it('when its port is in use: exit 3 with the listener and the address', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    perTest.defer(() => new Promise((resolve) => void taken.close(() => resolve())));
    const bound = taken.address();
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
    const text = await readFile(join(import.meta.dirname, 'gateway.yaml'), 'utf8');
    const config = join(folder, 'gateway.yml');
    await writeFile(
      config,
      text.replace('https: { address: "127.0.0.1:0"', `https: { address: "127.0.0.1:${port}"`),
    );
    const gateway = perTest.use(startProcess(['run', '-c', config], environment()));
    expect(await gateway.ended).toBe(3);
    expect(gateway.stderr).toBe(
      `sundial: cannot start: the https listener cannot listen on 127.0.0.1:${port}: the address is in use\n`,
    );
    expect(gateway.stdout.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
  });

  it.each([[['run', '--nonsense']], [['fly']], [['run', '--at', 'someday']], [['run', '--notify']]])(
    'when its arguments are wrong: exit 2 with an error: %o',
    async (arguments_) => {
      const gateway = perTest.use(startProcess(arguments_));
      expect(await gateway.ended).toBe(2);
      expect(gateway.stderr).toMatch(/^error: /m);
    },
  );
});

describe('a gateway that starts', () => {
  it('handles signals that arrive during its start once it is ready', async () => {
    const gateway = start();
    // The gateway opens the database after it reads the policies and before it listens.
    await vi.waitFor(() => access(join(folder, 'data/sundial.db')), { timeout: 20_000, interval: 2 });
    gateway.kill('SIGHUP');
    gateway.kill('SIGTERM');
    expect(await gateway.ended).toBe(0);
    expect(gateway.stdout).toContain('"draining"');
  });
});

describe('a gateway that runs', () => {
  let shared = '';
  let gateway: GatewayProcess;
  const run = () => stack.use(startProcess(RUN, environment({}, shared)));
  beforeAll(async () => {
    shared = await openFolder(stack);
    gateway = run();
    await gateway.ready;
  });

  it('locks its data folder: another process exits with 3', async () => {
    const second = run();
    expect(await second.ended).toBe(3);
    expect(second.stderr).toMatch(/in use by another Sundial process/);
  });

  it('reloads the policies on SIGHUP', async () => {
    const { https } = await gateway.ready;
    await using client = overHttp1(https);
    const note = async () => (await client.ask({ path: '/api/v1/orders' })).text;
    expect(await note()).toMatch(/x-note\W+one/i);
    await writeFile(join(shared, 'note.txt'), 'two');
    gateway.kill('SIGHUP');
    await vi.waitFor(async () => expect(await note()).toMatch(/x-note\W+two/i), { timeout: 20_000 });
  });

  it('on SIGTERM finishes requests, accepts no new ones, exits with 0', async () => {
    const { https, admin } = await gateway.ready;
    await using first = overHttp1(https);
    await using second = overHttp2(https);
    await using idle = overHttp1(https);
    await using health = overHttp1(admin, { tls: false });
    expect((await idle.ask({ path: '/api/v1/orders/last' })).status).toBe(200);
    const running = [first, second].map((client) => client.ask({ path: '/api/v1/orders/last?delay=1000' }));
    await untilInFlight(echo, 2);
    gateway.kill('SIGTERM');
    await vi.waitFor(async () => expect((await health.ask({ path: '/-/ready' })).status).toBe(503), {
      timeout: 20_000,
      interval: 10,
    });
    expect(await isRefused(https)).toBe(true);
    expect((await health.ask({ path: '/-/healthy' })).status).toBe(200);
    const answers = await Promise.all(running);
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, complete: true });
    expect(answers[0]?.headers.connection).toBe('close');
    expect(await gateway.ended).toBe(0);
    // The log is complete before the process ends, and stdout has nothing else.
    for (const line of gateway.stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toBeTypeOf('object');
    expect(gateway.stdout.match(/"path":"\/api\/v1\/orders\/last"/g)).toHaveLength(3);
  });
});

describe('shutdown', () => {
  it('SIGINT shuts down too, at once if no request runs', async () => {
    const gateway = start();
    await gateway.ready;
    gateway.kill('SIGINT');
    expect(await gateway.ended).toBe(0);
  });

  it('a second signal does not wait for running requests', async () => {
    const gateway = start();
    const { https } = await gateway.ready;
    await using client = overHttp1(https);
    const running = client.ask({ path: '/api/v1/orders?delay=20000' }).then(
      ({ complete }) => complete,
      () => false,
    );
    await untilInFlight(echo, 1);
    gateway.kill('SIGTERM');
    await vi.waitFor(async () => expect(await isRefused(https)).toBe(true), {
      timeout: 20_000,
      interval: 10,
    });
    const began = performance.now();
    gateway.kill('SIGTERM');
    expect(await gateway.ended).not.toBe(0);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(await running).toBe(false);
  });
});
