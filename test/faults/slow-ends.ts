// The memory cost of clients and of an upstream that do not read, during and afterwards.
import { createServer } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { openInspector } from '../soak/mixed/inspector.ts';
import { overHttp1 } from '../support/http-client.ts';
import { becomes, openFaulty } from './gateway.ts';
import { residentMb } from './machine.ts';
import { atMost, type Figure, type Row } from './row.ts';

const OF_EACH_KIND = 40;
const CHUNK = Buffer.alloc(64 * 1_024, 'x');
const endless = (): Readable =>
  new Readable({
    read() {
      this.push(CHUNK);
    },
  });
const FILLS_MS = 4_000;
const RESTS_MS = 10_000;
const WARM_UP = 3_000;
/** After this many rounds the allocator has reached its size. */
const FIRST_TIMES = 4;
const FURTHER_TIMES = 4;

const upstream = () =>
  createServer((asked, answer) => {
    if (asked.url?.startsWith('/echo')) return void answer.end('ok');
    // A POST is neither read nor answered.
    if (asked.method === 'GET') endless().pipe(answer);
    asked.on('error', () => undefined);
    answer.on('error', () => undefined);
  });

/** Opens all slow streams; the result ends them. */
function openSlow(https: number): () => void {
  const options = { host: '127.0.0.1', port: https, rejectUnauthorized: false, servername: '', agent: false };
  const path = '/api/bulk';
  const ends: (() => unknown)[] = [];
  for (let each = 0; each < OF_EACH_KIND; each += 1) {
    const reader = request({ ...options, path }, (answer) => answer.pause());
    const writer = request({ ...options, path, method: 'POST' });
    for (const call of [reader, writer]) {
      call.on('error', () => undefined);
      ends.push(() => call.destroy());
    }
    reader.end();
    endless().pipe(writer);
  }
  const session = connectHttp2(`https://127.0.0.1:${https}`, { rejectUnauthorized: false });
  session.on('error', () => undefined);
  for (let each = 0; each < OF_EACH_KIND; each += 1) {
    const stream = session.request({ ':path': path, ':authority': '127.0.0.1' });
    stream.on('error', () => undefined);
    stream.pause();
  }
  ends.push(() => session.destroy());
  return () => {
    for (const end of ends) end();
  };
}

async function slowStreams(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const server = upstream();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => server.closeAllConnections());
  stack.defer(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const POLICIES = join(import.meta.dirname, 'policies/*.yaml');
  // Garbage is neither a cost of a stream nor a leak, so it is collected first.
  const NODE_OPTIONS = '--inspect=127.0.0.1:0';
  const fixture = stack.use(await openFaulty({ POLICIES, WELL: url, DEAD: url, BULK: url, NODE_OPTIONS }));
  const inspected = /Debugger listening on (ws:\S+)/.exec(fixture.process.stderr)?.[1] ?? '';
  using inspector = await openInspector(inspected);
  await using client = overHttp1(fixture.https);
  const { pid } = fixture.process;
  const ask = (): Promise<unknown> =>
    Promise.all(Array.from({ length: 10 }, () => client.ask({ path: '/api/well' })));
  // A heap that has not grown yet grows under any load.
  for (let asked = 0; asked < WARM_UP; asked += 10) await ask();

  const round = async (): Promise<{ readonly most: number; readonly after: number }> => {
    await inspector.collectGarbage();
    const before = residentMb(pid);
    const end = openSlow(fixture.https);
    let most = before;
    await becomes(
      () => {
        most = Math.max(most, residentMb(pid));
        return false;
      },
      { withinMs: FILLS_MS, everyMs: 25 },
    );
    end();
    let after = residentMb(pid);
    await becomes(
      async () => {
        await ask();
        await inspector.collectGarbage();
        after = Math.min(after, residentMb(pid));
        return after - before <= 20;
      },
      { withinMs: RESTS_MS, everyMs: 250 },
    );
    return { most: most - before, after };
  };
  const rounds = [];
  for (let time = 0; time < FIRST_TIMES + FURTHER_TIMES; time += 1) rounds.push(await round());
  // The allocator reuses memory of earlier rounds or returns it late. A leak grows in each round.
  const after = rounds.map((each) => each.after);
  const left = Math.max(0, Math.min(...after.slice(-2)) - Math.max(...after.slice(0, FIRST_TIMES)));
  return [
    atMost('of memory for each', Math.max(...rounds.map(({ most }) => most)) / (3 * OF_EACH_KIND), 1, 'MB'),
    atMost(`left by ${FURTHER_TIMES} further times`, left, 20, 'MB'),
  ];
}

export const slowEnds: readonly Row[] = [
  { what: `${3 * OF_EACH_KIND} streams whose other end does not read`, measure: slowStreams },
];
