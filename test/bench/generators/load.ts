// The load generator: full load by autocannon, or a fixed rate. One process for all peers, equally warm.
import autocannon from 'autocannon';
import { CONNECTIONS, HOST, requestHeaders } from '../work.ts';
import { createLatencies, type LoadOrder, type LoadResult, type SteadyOrder } from './generated.ts';
import { runSteady } from './steady.ts';

async function runFull(order: LoadOrder): Promise<LoadResult> {
  const latencies = createLatencies();
  let answered = 0;
  const requests = order.requests.map((request) => {
    const { method, path, body } = request;
    // autocannon computes the length itself.
    const { 'content-length': _length, ...headers } = requestHeaders(request);
    return { method, path, headers, ...(body === undefined ? {} : { body }) };
  });
  let clients = 0;
  const load = autocannon({
    url: `${order.scheme}://127.0.0.1:${order.port}`,
    servername: HOST,
    connections: CONNECTIONS,
    ...(order.once ? { amount: requests.length } : { duration: order.seconds }),
    requests,
    setupClient: (client) => {
      const at = clients++;
      if (order.once) {
        client.setRequests(requests.filter((_, index) => index % CONNECTIONS === at));
        return;
      }
      // Each connection starts at another request. Otherwise all would use the same consumer at once.
      const start = at % requests.length;
      client.setRequests([...requests.slice(start), ...requests.slice(0, start)]);
    },
  });
  const startedAt = performance.now();
  load.on('response', (_client, _status, _bytes, time) => {
    answered += 1;
    latencies.record(time);
  });
  const result = await load;
  return {
    requests: answered,
    seconds: (performance.now() - startedAt) / 1000,
    p50: latencies.quantile(0.5),
    p99: latencies.quantile(0.99),
    errors: result.errors + result.non2xx,
  };
}

process.on('message', (order: LoadOrder | SteadyOrder) => {
  const running = 'perSecond' in order ? runSteady(order) : runFull(order);
  running.then(
    (result) => process.send?.(result),
    (error: unknown) => {
      throw error;
    },
  );
});
process.send?.({ port: 0 });
