// An upstream that never responds, at its concurrency limit, does not slow down other upstreams.
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { overHttp1, overHttp2 } from '../support/http-client.ts';
import { becomes, openFaulty } from './gateway.ts';
import { exactly, type Figure, p99Of, type Row, within } from './row.ts';

const TURNS = 4;
const ASKED_EACH_TURN = 1_000;
const WARM_UP = 3_000;
/** More than the concurrency limit, and some in the queue. */
const [HANGING_CONNECTIONS, HANGING_STREAMS] = [3, 100];
const PLACES = 256;

async function starving(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const silent = new Set<Socket>();
  const dead = createServer((socket) => {
    silent.add(socket);
    socket.on('error', () => undefined).resume();
    socket.once('close', () => silent.delete(socket));
  });
  await new Promise<void>((resolve) => dead.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    for (const socket of silent) socket.destroy();
    dead.close();
  });
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const DEAD = `http://127.0.0.1:${(dead.address() as AddressInfo).port}`;
  const POLICIES = join(import.meta.dirname, 'policies/*.yaml');
  const fixture = stack.use(await openFaulty({ POLICIES, DEAD, WELL: echo.url, BULK: echo.url }));
  await using client = overHttp1(fixture.https);
  let failed = 0;
  const turn = async (count: number): Promise<number[]> => {
    const took: number[] = [];
    for (let call = 0; call < count; call += 1) {
      const from = performance.now();
      if ((await client.ask({ path: '/api/well' })).status !== 200) failed += 1;
      took.push(performance.now() - from);
    }
    return took;
  };
  await turn(WARM_UP);

  const [base, meanwhile]: [number[], number[]] = [[], []];
  let fewest = Number.POSITIVE_INFINITY;
  for (let each = 0; each < TURNS; each += 1) {
    base.push(...(await turn(ASKED_EACH_TURN)));
    await using hanging = new AsyncDisposableStack();
    for (let connection = 0; connection < HANGING_CONNECTIONS; connection += 1) {
      const other = hanging.use(overHttp2(fixture.https));
      for (let call = 0; call < HANGING_STREAMS; call += 1) other.begin({ path: '/api/dead' });
    }
    await becomes(() => silent.size >= PLACES, { withinMs: 10_000 });
    meanwhile.push(...(await turn(ASKED_EACH_TURN)));
    fewest = Math.min(fewest, silent.size);
    await hanging.disposeAsync();
    await becomes(() => silent.size === 0, { withinMs: 10_000 });
  }
  const calm = p99Of(base);
  return [
    within('healthy p99', p99Of(meanwhile), 2 * calm, `2 x ${calm.toFixed(2)}`),
    exactly('places that the other one held', fewest, PLACES),
    exactly(`not 200 of ${base.length + meanwhile.length}`, failed, 0),
  ];
}

export const deadUpstream: readonly Row[] = [{ what: 'another upstream never responds', measure: starving }];
