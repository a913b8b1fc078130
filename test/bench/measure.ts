// Measures one peer under load for some seconds, with the CPU time of its processes.
import { fstatSync } from 'node:fs';
import { installed } from './children.ts';
import type { LoadOrder, LoadResult, SteadyOrder, SteadyResult } from './generators/generated.ts';
import { runH2load } from './generators/h2load.ts';
import { runWrk } from './generators/wrk.ts';
import type { Ground } from './ground.ts';
import type { Peer } from './peers.ts';
import { cpuMicros, residentMegabytes } from './processor.ts';
import type { BenchRequest } from './work.ts';

/** `h2`: HTTP/2 over TLS. */
export type Protocol = 'http' | 'https' | 'h2';

export interface Work {
  readonly protocol: Protocol;
  readonly requests: readonly BenchRequest[];
  readonly once?: boolean;
  readonly answerOctets: number;
}

/** Full load: as many requests as the peer can handle. */
export interface Full {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of CPU time, all threads and processes of the proxy. Undefined without /proc. */
  readonly cpuPerRequest: number | undefined;
  /** Cores used: 1 is one core. */
  readonly busy: number | undefined;
  /** Bytes of access log. */
  readonly logPerRequest: number;
  /** Resident memory of all processes at the end, in MB. Undefined without /proc. */
  readonly resident: number | undefined;
}

/** A fixed rate of requests. */
export interface Steady {
  readonly asked: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Share of responses without quota headers: Redis replied too late, and the gateway counted locally. */
  readonly withoutQuota: number;
}

export interface FullOptions {
  readonly seconds: number;
  /** Uses autocannon even if wrk is installed, because wrk cannot run for less than a second. */
  readonly brief?: boolean;
}

/** @throws Error if a response was wrong, or if the load generator failed */
export async function measureFull(
  ground: Ground,
  peer: Peer,
  work: Work,
  { seconds, brief = false }: FullOptions,
): Promise<Full> {
  const order = orderOf(peer, work, seconds);
  const logged = fstatSync(peer.log).size;
  const before = cpuMicros(peer.pid);
  const result = await runFull(ground, work.protocol, order, brief);
  const after = cpuMicros(peer.pid);
  refuseErrors(peer, result);
  const used = before === undefined || after === undefined ? undefined : after - before;
  return {
    ...{ perSecond: result.requests / result.seconds, p50: result.p50, p99: result.p99 },
    cpuPerRequest: used === undefined ? undefined : used / result.requests,
    busy: used === undefined ? undefined : used / 1_000_000 / result.seconds,
    logPerRequest: (fstatSync(peer.log).size - logged) / result.requests,
    resident: residentMegabytes(peer.pid),
  };
}

/** @throws Error if a response was wrong or lacked a policy header, or if the load generator failed */
export async function measureSteady(
  ground: Ground,
  peer: Peer,
  work: Work,
  { seconds, perSecond }: { readonly seconds: number; readonly perSecond: number },
): Promise<Steady> {
  const order: SteadyOrder = { ...orderOf(peer, work, seconds), perSecond, headers: peer.headers };
  const result: LoadResult & Partial<SteadyResult> =
    work.protocol === 'h2'
      ? await runH2load(pinned(ground, 'h2load'), ground.folder, order, perSecond)
      : await orderLoad<SteadyResult>(ground, order);
  refuseErrors(peer, result);
  const { p50, p99, requests } = result;
  const withoutQuota = (result.withoutQuota ?? 0) / requests;
  return { asked: perSecond, perSecond: requests / result.seconds, p50, p99, withoutQuota };
}

function orderOf(peer: Peer, { protocol, requests, once, answerOctets }: Work, seconds: number): LoadOrder {
  const [scheme, port] = protocol === 'http' ? ['http', peer.port] : ['https', peer.httpsPort];
  return { ...{ scheme, port, seconds, requests, answerOctets }, once: once ?? false } as LoadOrder;
}

function runFull(ground: Ground, protocol: Protocol, order: LoadOrder, brief: boolean): Promise<LoadResult> {
  if (protocol === 'h2') return runH2load(pinned(ground, 'h2load'), ground.folder, order);
  if (!brief && installed('wrk') !== undefined)
    return runWrk(pinned(ground, 'wrk'), ground.folder, { ...order, seconds: Math.ceil(order.seconds) });
  return orderLoad<LoadResult>(ground, order);
}

function pinned({ where }: Ground, program: string): readonly string[] {
  return [...where.rest, installed(program) ?? program];
}

function refuseErrors({ name }: Peer, result: LoadResult & Partial<SteadyResult>): void {
  const { requests, errors, incomplete = 0 } = result;
  if (errors === 0 && incomplete === 0 && requests > 0) return;
  throw new Error(
    `${name}: ${requests} answers, ${errors} errors, other statuses or lengths, ` +
      `${incomplete} without a policy header`,
  );
}

function orderLoad<Result>({ load }: Ground, order: LoadOrder): Promise<Result> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error('the load generator ended'));
    load.process.once('exit', ended);
    load.process.once('message', (result) => {
      load.process.off('exit', ended);
      resolve(result as Result);
    });
    load.process.send(order);
  });
}
