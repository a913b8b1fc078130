// The load generator: autocannon in a process of its own, told by message what to send and for how long.
// run.ts starts it once, so that it is as warm for the first peer as for the last.
import autocannon from 'autocannon';
import type { PolicyHeaders } from './agreement.ts';
import { type BenchRequest, CONNECTIONS, requestHeaders } from './work.ts';

export interface LoadOrder {
  readonly port: number;
  readonly seconds: number;
  readonly requests: readonly BenchRequest[];
  readonly headers: PolicyHeaders;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Connection failures, time-outs and statuses other than 2xx. */
  readonly errors: number;
  /** Answers that lacked a header which belongs on every one. */
  readonly incomplete: number;
  /** Answers that lacked a quota header. */
  readonly withoutQuota: number;
}

// autocannon's own histogram rounds to whole milliseconds; ratios of a few milliseconds need finer steps.
const STEPS_PER_MS = 50;
const STEPS = 2_000 * STEPS_PER_MS;

async function run(order: LoadOrder): Promise<LoadResult> {
  const latencies = new Uint32Array(STEPS + 1);
  let answered = 0;
  let incomplete = 0;
  let withoutQuota = 0;
  const requests = order.requests.map(({ path, token }) => ({
    method: 'GET',
    path,
    headers: requestHeaders(token),
  }));
  let clients = 0;
  const load = autocannon({
    url: `http://127.0.0.1:${order.port}`,
    connections: CONNECTIONS,
    duration: order.seconds,
    requests,
    setupClient: (client) => {
      // Each connection starts elsewhere in the list; otherwise all of them would be the same consumer at once.
      const start = clients++ % requests.length;
      client.setRequests([...requests.slice(start), ...requests.slice(0, start)]);
      client.on('headers', ({ headers }) => {
        if (!order.headers.always.every((name) => headers.includes(name))) incomplete += 1;
        if (!order.headers.quota.every((name) => headers.includes(name))) withoutQuota += 1;
      });
    },
  });
  const startedAt = performance.now();
  load.on('response', (_client, _status, _bytes, time) => {
    answered += 1;
    const step = Math.min(STEPS, Math.floor(time * STEPS_PER_MS));
    latencies[step] = (latencies[step] ?? 0) + 1;
  });
  const result = await load;
  return {
    requests: answered,
    seconds: (performance.now() - startedAt) / 1000,
    p50: quantile(latencies, answered, 0.5),
    p99: quantile(latencies, answered, 0.99),
    errors: result.errors + result.non2xx,
    incomplete,
    withoutQuota,
  };
}

function quantile(latencies: Uint32Array, total: number, share: number): number {
  let seen = 0;
  for (const [step, count] of latencies.entries()) {
    seen += count;
    if (seen >= total * share) return (step + 0.5) / STEPS_PER_MS;
  }
  return Number.NaN;
}

process.on('message', (order: LoadOrder) => {
  run(order).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      throw error;
    },
  );
});
process.send?.({ port: 0 });
