// One measurement: load on one peer for some seconds, with the processor time its process used meanwhile.
// run.ts calls it for every peer and round.
import type { ChildProcess } from 'node:child_process';
import { fstatSync, ftruncateSync } from 'node:fs';
import type { LoadOrder, LoadResult } from './load.ts';
import type { Peer } from './peers.ts';
import { cpuMicros } from './processor.ts';
import type { BenchRequest } from './work.ts';

export interface Measurement {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of processor time per request, all threads of the proxy; undefined without /proc. */
  readonly cpuPerRequest: number | undefined;
  /** Share of one core that the proxy used, 0 to 1 and above. */
  readonly busy: number | undefined;
  /** Share of answers without quota lines: the gateway had not heard from Redis in time and counted by itself. */
  readonly withoutQuota: number;
  /** Bytes of access log per request. */
  readonly logPerRequest: number;
}

/**
 * `quotaSlack` is the share of answers that may lack quota headers.
 *
 * @throws when any answer was not 2xx or lacked a policy header, or when the load itself failed
 */
export async function measure(
  load: ChildProcess,
  peer: Peer,
  requests: readonly BenchRequest[],
  { seconds, quotaSlack }: { readonly seconds: number; readonly quotaSlack: number },
): Promise<Measurement> {
  ftruncateSync(peer.log, 0);
  const before = cpuMicros(peer.pid);
  const result = await orderLoad(load, { port: peer.port, seconds, requests, headers: peer.headers });
  const after = cpuMicros(peer.pid);
  if (result.errors > 0 || result.incomplete > 0 || result.requests === 0) {
    throw new Error(
      `${peer.name}: ${result.requests} answers, ${result.errors} errors or statuses other than 2xx, ` +
        `${result.incomplete} without a policy header`,
    );
  }
  const withoutQuota = result.withoutQuota / result.requests;
  if (withoutQuota > quotaSlack) {
    throw new Error(
      `${peer.name}: ${(withoutQuota * 100).toFixed(1)} % of the answers without quota headers: Redis was too slow, ` +
        'so this machine is too busy for a measurement',
    );
  }
  const used = before === undefined || after === undefined ? undefined : after - before;
  return {
    perSecond: result.requests / result.seconds,
    p50: result.p50,
    p99: result.p99,
    cpuPerRequest: used === undefined ? undefined : used / result.requests,
    busy: used === undefined ? undefined : used / 1_000_000 / result.seconds,
    withoutQuota,
    logPerRequest: fstatSync(peer.log).size / result.requests,
  };
}

function orderLoad(load: ChildProcess, order: LoadOrder): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error('the load generator ended'));
    load.once('exit', ended);
    load.once('message', (result) => {
      load.off('exit', ended);
      resolve(result as LoadResult);
    });
    load.send(order);
  });
}
