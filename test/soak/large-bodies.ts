// `npm run test:large [-- <bytes>]`: streams large bodies in both directions, and checks bytes and memory.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { startProcess } from '../support/gateway-process.ts';

const SIZE = Number(process.argv[2] ?? 1_024 ** 3);
const CHUNK = Buffer.alloc(64 * 1_024, 'x');
const FIRST = 64 * 1_024 ** 2;
/** Allowed growth over the size after the first bodies, during one large body. */
const MAX_GROWTH = 64 * 1_024 ** 2;
/** The cost of one stalled reader. */
const MAX_PER_READER = 1_024 ** 2;
const READERS = 64;

function* chunks(size: number): Generator<Buffer> {
  for (let left = size; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, Math.min(left, CHUNK.length));
}

/** Sends as many bytes as its path says, and counts received bytes. */
const upstream = createServer((asked, answer) => {
  if (asked.method === 'GET') {
    const size = Number(asked.url?.slice(1));
    answer.writeHead(200, { 'content-length': size });
    Readable.from(chunks(size)).pipe(answer);
    return;
  }
  let received = 0;
  asked.on('data', (bytes: Buffer) => {
    received += bytes.length;
  });
  asked.on('end', () => answer.end(String(received)));
});
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));

const data = await mkdtemp(join(tmpdir(), 'sundial-large-'));
const gateway = startProcess(['run', '-c', 'test/soak/gateway.yaml'], {
  DATA: data,
  LARGE: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
});
const { https: port } = await gateway.ready;

function residentBytes(): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1_024;
}

const inMegabytes = (bytes: number): string => `${Math.round(bytes / 1_024 ** 2)} MB`;

/** The gateway's peak memory while `work` runs. */
async function peakOf(work: () => Promise<unknown>): Promise<number> {
  let peak = residentBytes();
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes());
  }, 50);
  await work();
  clearInterval(timer);
  return Math.max(peak, residentBytes());
}

const options = { host: '127.0.0.1', port, rejectUnauthorized: false, servername: '' };

function overHttp1(method: 'GET' | 'POST', size: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const path = method === 'GET' ? `/api/large/${size}` : '/api/large';
    const call = request({ ...options, method, path }, (answer) => {
      let received = 0;
      let text = '';
      answer.on('data', (bytes: Buffer) => {
        received += bytes.length;
        if (method === 'POST') text += bytes.toString();
      });
      answer.on('end', () => resolve(method === 'GET' ? received : Number(text)));
      answer.on('error', reject);
    });
    call.on('error', reject);
    if (method === 'GET') call.end();
    else Readable.from(chunks(size)).pipe(call);
  });
}

function overHttp2(method: 'GET' | 'POST', size: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    session.on('error', reject);
    const path = method === 'GET' ? `/api/large/${size}` : '/api/large';
    const stream = session.request({ ':method': method, ':path': path });
    let received = 0;
    let text = '';
    stream.on('data', (bytes: Buffer) => {
      received += bytes.length;
      if (method === 'POST') text += bytes.toString();
    });
    stream.on('end', () => {
      session.close();
      resolve(method === 'GET' ? received : Number(text));
    });
    stream.on('error', reject);
    if (method === 'GET') stream.end();
    else Readable.from(chunks(size)).pipe(stream);
  });
}

/** Clients that request a large body and read nothing. */
async function stalledReaders(): Promise<void> {
  const calls = Array.from({ length: READERS }, () =>
    request({ ...options, agent: false, path: `/api/large/${SIZE}` }, (answer) => answer.pause()),
  );
  for (const call of calls) {
    call.on('error', () => undefined);
    call.end();
  }
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  for (const call of calls) call.destroy();
}

const wrong: string[] = [];
// One of each kind first: it loads code and allocates memory that stays.
for (const call of [overHttp1, overHttp2])
  for (const method of ['GET', 'POST'] as const) await call(method, FIRST);
const before = residentBytes();
process.stdout.write(`a gateway of ${inMegabytes(before)}, bodies of ${inMegabytes(SIZE)}\n`);
for (const [name, call] of [
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
] as const) {
  for (const method of ['GET', 'POST'] as const) {
    const startedAt = performance.now();
    let passed = 0;
    const peak = await peakOf(async () => {
      passed = await call(method, SIZE);
    });
    const rate = (SIZE / 1_024 ** 2 / (performance.now() - startedAt)) * 1_000;
    const growth = peak - before;
    process.stdout.write(
      `${name} ${method}: ${passed} bytes, ${Math.round(rate)} MB/s, memory +${inMegabytes(growth)}\n`,
    );
    if (passed !== SIZE) wrong.push(`${name} ${method}: ${SIZE - passed} bytes are missing`);
    if (growth > MAX_GROWTH) wrong.push(`${name} ${method}: memory grew by ${inMegabytes(growth)}`);
  }
}
const rested = residentBytes();
const perReader = ((await peakOf(stalledReaders)) - rested) / READERS;
process.stdout.write(`${READERS} stalled readers: ${Math.round(perReader / 1_024)} KB each\n`);
if (perReader > MAX_PER_READER) wrong.push(`a stalled reader costs ${Math.round(perReader / 1_024)} KB`);

await gateway[Symbol.asyncDispose]();
upstream.closeAllConnections();
upstream.close();
await rm(data, { recursive: true, force: true });
for (const line of wrong) process.stderr.write(`${line}\n`);
process.exitCode = wrong.length === 0 ? 0 : 1;
