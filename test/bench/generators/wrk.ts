// Full HTTP/1.1 load by wrk, which takes a tenth of autocannon's CPU time.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../children.ts';
import { type BenchRequest, CONNECTIONS, HOST, requestHeaders } from '../work.ts';
import type { LoadOrder, LoadResult } from './generated.ts';

/** `words`: the program, after the words that pin it. The seconds of `order` must be whole. */
export async function runWrk(
  words: readonly string[],
  folder: string,
  order: LoadOrder,
): Promise<LoadResult> {
  const file = join(folder, 'requests.bin');
  writeFileSync(file, order.requests.map(written).join(''), 'latin1');
  const printed = await runProgram([
    ...words,
    ...['--threads', '1', '--connections', String(CONNECTIONS), '--duration', `${order.seconds}s`],
    ...['--timeout', '5s', '--script', join(import.meta.dirname, 'requests.lua')],
    `${order.scheme}://${HOST}:${order.port}`,
    ...['--', file, ...(order.once ? ['once'] : [])],
  ]);
  const { micros, bytes, requests, errors, p50, p99 } = JSON.parse(printed.trim().split('\n').at(-1) ?? '');
  // wrk counts octets and statuses, and does not check responses.
  const short = bytes < requests * order.answerOctets ? 1 : 0;
  return {
    ...{ requests, seconds: micros / 1e6, errors: errors + short },
    ...{ p50: p50 / 1_000, p99: p99 / 1_000 },
  };
}

/** The format that requests.lua reads. */
function written(request: BenchRequest): string {
  const { method, path, body = '' } = request;
  const fields = Object.entries(requestHeaders(request)).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = `${method} ${path} HTTP/1.1\r\n${fields.join('')}\r\n${body}`;
  return `${text.length}\n${text}`;
}
