// 10,000 clients disconnect before their response. Each ends its upstream request.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { overHttp1, overHttp2 } from '../support/http-client.ts';
import { becomes, openFaulty } from './gateway.ts';
import { socketsOf } from './machine.ts';
import { exactly, type Figure, type Row, share } from './row.ts';

const SIDE_BY_SIDE = 100;
/** Over HTTP/1.1 each needs a connection and a handshake. */
const ROUNDS = [...Array(20).fill(overHttp1), ...Array(80).fill(overHttp2)] as readonly (typeof overHttp2)[];
const SECOND = 1_000;

async function aborts(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const open = new Map<string, boolean>();
  const endedAt = new Map<string, number>();
  const upstream = createServer((asked, answer) => {
    const name = asked.url ?? '';
    if (name.startsWith('/echo')) return void answer.end('ok');
    open.set(name, true);
    answer.once('close', () => {
      open.delete(name);
      endedAt.set(name, performance.now());
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  stack.defer(() => upstream.closeAllConnections());
  stack.defer(() => void upstream.close());
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const fixture = stack.use(
    await openFaulty({
      POLICIES: join(import.meta.dirname, 'policies/*.yaml'),
      WELL: url,
      DEAD: url,
      BULK: url,
    }),
  );
  {
    await using first = overHttp1(fixture.https);
    await first.ask({ path: '/api/well' });
  }
  await becomes(() => false, { withinMs: 200 });
  const before = socketsOf(fixture.process.pid);

  let [arrived, inTime] = [0, 0];
  for (const [round, connect] of ROUNDS.entries()) {
    await using client = connect(fixture.https);
    const names = Array.from({ length: SIDE_BY_SIDE }, (_, index) => `/never-${round}-${index}`);
    const leaving = names.map((name) => client.begin({ path: `/api/dead${name}` }));
    await becomes(() => names.every((name) => open.has(name)), { withinMs: 10 * SECOND, everyMs: 2 });
    arrived += names.filter((name) => open.has(name)).length;
    const leftAt = performance.now();
    for (const { leave } of leaving) leave();
    await becomes(() => !names.some((name) => open.has(name)), { withinMs: SECOND, everyMs: 5 });
    inTime += names.filter(
      (name) => (endedAt.get(name) ?? Number.POSITIVE_INFINITY) - leftAt <= SECOND,
    ).length;
  }
  await becomes(() => socketsOf(fixture.process.pid) <= before && open.size === 0, { withinMs: 10 * SECOND });
  const total = ROUNDS.length * SIDE_BY_SIDE;
  return [
    exactly('requests that reached the upstream', arrived, total),
    share('ended there within 1 s', inTime, total, 99),
    exactly('upstream requests left', open.size, 0),
    exactly('sockets leaked', Math.max(0, socketsOf(fixture.process.pid) - before), 0),
  ];
}

export const leavingClients: readonly Row[] = [{ what: '10,000 aborts', measure: aborts }];
