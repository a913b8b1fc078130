// SIGTERM with open requests and idle connections, and a second signal.
import { connect } from 'node:net';
import { join } from 'node:path';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { overHttp1 } from '../support/http-client.ts';
import { openSocket } from '../support/raw-client.ts';
import { becomes, openFaulty } from './gateway.ts';
import { exactly, type Figure, type Row, within } from './row.ts';

const IN_FLIGHT = 23;
const IDLE = 10;
const LONGEST_MS = 2_000;
const SECOND = 1_000;

const isRefused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });

async function openSlowFixture(stack: AsyncDisposableStack) {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const POLICIES = join(import.meta.dirname, 'policies/*.yaml');
  const fixture = stack.use(await openFaulty({ POLICIES, WELL: echo.url, DEAD: echo.url, BULK: echo.url }));
  const tally = stack.use(overHttp1(echo.port, { tls: false }));
  const untilActive = (count: number) =>
    becomes(async () => (await tally.ask({ path: '/echo/-/count' })).json.active === count, {
      withinMs: 10 * SECOND,
    });
  return { fixture, untilActive };
}

async function drain(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const { fixture, untilActive } = await openSlowFixture(stack);
  const idle = Array.from({ length: IDLE }, () => openSocket(fixture.https));
  for (const socket of idle) {
    socket.write('GET /api/well HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.resume();
  }
  const closedAt: number[] = [];
  for (const socket of idle) socket.once('close', () => closedAt.push(performance.now()));
  const client = stack.use(overHttp1(fixture.https));
  const running = Array.from({ length: IN_FLIGHT }, (_, index) =>
    client.ask({ path: `/api/well?delay=${LONGEST_MS - 10 * index}` }).then(
      ({ status, complete }) => status === 200 && complete,
      () => false,
    ),
  );
  await untilActive(IN_FLIGHT);
  await fixture.admin.ask({ path: '/-/ready' });
  const toldAt = performance.now();
  fixture.process.kill('SIGTERM');
  await becomes(async () => (await fixture.admin.ask({ path: '/-/ready' })).status === 503, {
    withinMs: 5 * SECOND,
    everyMs: 1,
  });
  const notReadyMs = performance.now() - toldAt;
  await becomes(() => closedAt.length === IDLE, { withinMs: 5 * SECOND, everyMs: 1 });
  const refused = await isRefused(fixture.https);
  const finished = (await Promise.all(running)).filter((well) => well).length;
  const code = await fixture.process.ended;
  const endedMs = performance.now() - toldAt;
  return [
    exactly('finished', finished, IN_FLIGHT),
    within('not ready after', notReadyMs, 100),
    exactly('idle connections closed', closedAt.length, IDLE),
    within('the last of them after', Math.max(...closedAt) - toldAt, 100),
    exactly('new connections taken', refused ? 0 : 1, 0),
    within('ended after', endedMs, LONGEST_MS + 1_500, 'the longest request + 1.5 s'),
    exactly('exit code', Number(code), 0),
  ];
}

async function secondSignal(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const { fixture, untilActive } = await openSlowFixture(stack);
  const client = stack.use(overHttp1(fixture.https));
  client.begin({ path: '/api/well?hang=1' });
  await untilActive(1);
  fixture.process.kill('SIGTERM');
  await becomes(async () => (await fixture.admin.ask({ path: '/-/ready' })).status === 503, {
    withinMs: 5 * SECOND,
  });
  const from = performance.now();
  fixture.process.kill('SIGTERM');
  const code = await fixture.process.ended;
  return [within('ended after', performance.now() - from, SECOND), exactly('exit code', Number(code), 1)];
}

export const ending: readonly Row[] = [
  { what: `SIGTERM with ${IN_FLIGHT} in flight and ${IDLE} idle`, measure: drain },
  { what: 'a second SIGTERM', measure: secondSignal },
];
