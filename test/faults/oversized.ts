// Too large heads and targets and too many fields are refused at once, and the connection closes.
import { join } from 'node:path';
import { overHttp1 } from '../support/http-client.ts';
import { openSocket } from '../support/raw-client.ts';
import { openFaulty } from './gateway.ts';
import { exactly, type Figure, type Row, within } from './row.ts';

const head = (target: string, fields: string): string =>
  `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n${fields}\r\n`;
const fields = (count: number, size: number): string =>
  Array.from({ length: count }, (_, index) => `x-${index}: ${'v'.repeat(size)}\r\n`).join('');

const SWEEP: readonly (readonly [status: number, bytes: string])[] = [
  ...[9_000, 16_000, 30_000].map((size) => [414, head(`/api/well/${'a'.repeat(size)}`, '')] as const),
  ...[20_000, 60_000, 250_000].map((size) => [431, head('/api/well', fields(1, size))] as const),
  ...[300, 1_000, 2_500].map((count) => [431, head('/api/well', fields(count, 1))] as const),
];
const TIMES = 10;

/** Milliseconds from the last byte sent to the first byte of the response. */
async function refusal(
  https: number,
  bytes: string,
): Promise<{ readonly status: number; readonly ms: number }> {
  const socket = openSocket(https);
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  const from = performance.now();
  const first = new Promise<string>((resolve) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1')));
    socket.once('close', () => resolve(''));
  });
  socket.write(bytes);
  const text = await first;
  const ms = performance.now() - from;
  socket.destroy();
  return { status: Number(text.split(' ', 2)[1]), ms };
}

async function sweep(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const nowhere = 'http://127.0.0.1:9';
  const POLICIES = join(import.meta.dirname, 'policies/*.yaml');
  const fixture = stack.use(await openFaulty({ POLICIES, WELL: nowhere, DEAD: nowhere, BULK: nowhere }));
  await using client = overHttp1(fixture.https);
  for (let call = 0; call < 200; call += 1) await client.ask({ path: '/nowhere' });
  let [slowest, wrong] = [0, 0];
  for (let time = 0; time < TIMES; time += 1)
    for (const [expected, bytes] of SWEEP) {
      const { status, ms } = await refusal(fixture.https, bytes);
      // The wire suite distinguishes the two; here both are refusals.
      if (status !== expected && status !== 400) wrong += 1;
      slowest = Math.max(slowest, ms);
    }
  return [
    within('slowest refusal', slowest, 50),
    exactly(`not 414, 431 or 400 of ${TIMES * SWEEP.length}`, wrong, 0),
  ];
}

export const oversized: readonly Row[] = [
  { what: 'too large heads, targets and field counts', measure: sweep },
];
