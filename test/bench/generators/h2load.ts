// HTTP/2 load by h2load, full or at a fixed rate. All requests have the token of the first one.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../children.ts';
import { CONNECTIONS, HOST, requestHeaders } from '../work.ts';
import { createLatencies, type LoadOrder, type LoadResult } from './generated.ts';

/** Connections. Their streams together are as many as the connections of HTTP/1.1. */
const CLIENTS = 16;

/** `perSecond`: undefined for full load. */
export async function runH2load(
  words: readonly string[],
  folder: string,
  order: LoadOrder,
  perSecond?: number,
): Promise<LoadResult> {
  const [targets, log] = [join(folder, 'targets.txt'), join(folder, 'h2load.log')];
  const [first] = order.requests;
  if (first === undefined) throw new Error('there is nothing to ask');
  const { host: _host, ...fields } = requestHeaders(first);
  writeFileSync(targets, order.requests.map(({ path }) => `https://${HOST}${path}\n`).join(''));
  rmSync(log, { force: true });
  const printed = await runProgram([
    ...words,
    ...['--clients', String(CLIENTS), '--max-concurrent-streams', String(CONNECTIONS / CLIENTS)],
    ...['--duration', String(order.seconds), '--log-file', log, '--input-file', targets],
    ...['--connect-to', `127.0.0.1:${order.port}`],
    ...(perSecond === undefined ? [] : ['--rps', String(perSecond / CLIENTS)]),
    ...Object.entries(fields).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
  ]);
  const [, failed = 'NaN', errored = 'NaN', timedOut = 'NaN'] =
    /(\d+) failed, (\d+) errored, (\d+) timeout/.exec(printed) ?? [];
  const latencies = createLatencies();
  const rows = readFileSync(log, 'utf8').trim().split('\n');
  let good = 0;
  for (const row of rows) {
    const [, status, micros] = row.split('\t').map(Number);
    latencies.record((micros ?? 0) / 1_000);
    if (status === 200) good += 1;
  }
  const [, octets = '0'] = /\((\d+)\) data$/m.exec(printed) ?? [];
  const short = Number(octets) < good * order.answerOctets ? 1 : 0;
  return {
    requests: rows.length,
    seconds: order.seconds,
    p50: latencies.quantile(0.5),
    p99: latencies.quantile(0.99),
    errors: Number(failed) + Number(errored) + Number(timedOut) + rows.length - good + short,
  };
}
