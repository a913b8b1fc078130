// Samples what the gateway holds: memory, descriptors, timers, event loop lag and series.
import { readdirSync, readFileSync } from 'node:fs';
import { openInspector } from './inspector.ts';

export interface Sample {
  /** Seconds since the start of traffic. */
  readonly at: number;
  /** MB of the main process after a garbage collection. */
  readonly heap: number;
  /** MB of ArrayBuffers and similar, of the main process. */
  readonly external: number;
  /** MB of all processes of the gateway. */
  readonly rss: number;
  /** Of all processes of the gateway. */
  readonly fds: number;
  /** Active resources of the event loop by kind, such as Timeout. */
  readonly resources: Readonly<Record<string, number>>;
  /** Event loop lag in milliseconds since the last sample: 99th percentile and maximum. */
  readonly lag: { readonly p99: number; readonly longest: number };
  /** Number of lines in /metrics. */
  readonly series: number;
}

export interface Probe extends Disposable {
  readonly sample: (at: number) => Promise<Sample>;
}

const LAG = 'globalThis.soakLag';
const WATCH_LAG = `${LAG} = process.getBuiltinModule('node:perf_hooks').monitorEventLoopDelay({ resolution: 10 }); ${LAG}.enable()`;

/** `admin`: port of the listener with /metrics. */
export async function openProbe(pid: number, inspectorUrl: string, admin: number): Promise<Probe> {
  const inspector = await openInspector(inspectorUrl);
  await inspector.value(WATCH_LAG);
  return {
    sample: async (at) => {
      const lag = await inspector.value<Sample['lag']>(
        `({ p99: ${LAG}.percentile(99) / 1e6, longest: ${LAG}.max / 1e6 })`,
      );
      await inspector.collectGarbage();
      const heap = await inspector.heap();
      const external = await inspector.value<number>('process.memoryUsage().external');
      const resources = await inspector.value<Sample['resources']>(
        'Object.fromEntries(Object.entries(Object.groupBy(process.getActiveResourcesInfo(), (kind) => kind)).map(([kind, all]) => [kind, all.length]))',
      );
      // The garbage collection must not count as lag.
      await inspector.value(`${LAG}.disable(); ${WATCH_LAG}`);
      const processes = [pid, ...childrenOf(pid)];
      return {
        at,
        heap: heap / 1e6,
        external: external / 1e6,
        rss: processes.reduce((sum, each) => sum + rssOf(each), 0),
        fds: processes.reduce((sum, each) => sum + fdsOf(each), 0),
        resources,
        lag,
        series: await seriesOf(admin),
      };
    },
    [Symbol.dispose]: () => inspector[Symbol.dispose](),
  };
}

function childrenOf(pid: number): readonly number[] {
  const listed = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return listed === '' ? [] : listed.split(' ').map(Number);
}

function rssOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1_000;
}

function fdsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

async function seriesOf(admin: number): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${admin}/metrics`)).text();
  return page.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
}
