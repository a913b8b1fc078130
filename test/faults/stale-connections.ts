// An upstream closes each connection at about its next use. GETs are retried and get 200.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { overHttp1 } from '../support/http-client.ts';
import { openFaulty } from './gateway.ts';
import { exactly, type Figure, type Row } from './row.ts';

const ASKED = 10_000;
const SIDE_BY_SIDE = 16;

async function race(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  let [connections, served] = [0, 0];
  const upstream = createServer((_asked, answer) => {
    served += 1;
    answer.end('ok', () => {
      // Up to two milliseconds after the response: before, while and after the connection is reused.
      const { socket } = answer;
      setTimeout(() => socket?.end(), served % 3);
    });
  });
  upstream.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  stack.defer(() => upstream.closeAllConnections());
  stack.defer(() => void upstream.close());
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const POLICIES = join(import.meta.dirname, 'policies/*.yaml');
  const fixture = stack.use(await openFaulty({ POLICIES, WELL: url, DEAD: url, BULK: url }));
  await using client = overHttp1(fixture.https);
  let failed = 0;
  for (let asked = 0; asked < ASKED; asked += SIDE_BY_SIDE) {
    const answers = await Promise.all(
      Array.from({ length: SIDE_BY_SIDE }, () => client.ask({ path: '/api/well' })),
    );
    failed += answers.filter(({ status, complete }) => status !== 200 || !complete).length;
  }
  return [
    exactly(
      `GET not 200 of ${ASKED}, over ${connections} connections that were closed meanwhile,`,
      failed,
      0,
    ),
  ];
}

export const staleConnections: readonly Row[] = [
  { what: 'race with connections that close within 2 ms', measure: race },
];
