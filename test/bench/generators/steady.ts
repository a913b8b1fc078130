// Sends requests at a fixed rate, each at its own time. autocannon would send those of a second at once.
import { Agent, type IncomingMessage, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { type BenchRequest, CONNECTIONS, HOST, requestHeaders } from '../work.ts';
import { createLatencies, type SteadyOrder, type SteadyResult } from './generated.ts';

const ANSWERED_WITHIN_MS = 5_000;

export async function runSteady(order: SteadyOrder): Promise<SteadyResult> {
  const { scheme, port, seconds, perSecond, requests, headers, answerOctets } = order;
  const options = { keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'fifo' as const };
  const agent =
    scheme === 'http'
      ? new Agent(options)
      : new SecureAgent({ ...options, rejectUnauthorized: false, servername: HOST });
  const send = scheme === 'http' ? plainRequest : secureRequest;
  const latencies = createLatencies();
  let [sent, answered, errors, incomplete, withoutQuota] = [0, 0, 0, 0, 0];

  const judge = (response: IncomingMessage, octets: number): void => {
    const names = response.rawHeaders.filter((_text, at) => at % 2 === 0);
    const has = (name: string): boolean => names.includes(name);
    if (response.statusCode !== 200 || octets !== answerOctets) errors += 1;
    if (!headers.always.every(has)) incomplete += 1;
    if (!headers.quota.every(has)) withoutQuota += 1;
  };
  const sendOne = (each: BenchRequest): void => {
    const at = performance.now();
    const asked = send(
      {
        ...{ host: '127.0.0.1', port, agent, method: each.method, path: each.path },
        ...{ headers: requestHeaders(each), timeout: ANSWERED_WITHIN_MS },
      },
      (response) => {
        let octets = 0;
        response.on('data', (chunk: Buffer) => {
          octets += chunk.length;
        });
        response.once('end', () => {
          answered += 1;
          latencies.record(performance.now() - at);
          judge(response, octets);
        });
      },
    );
    asked.once('timeout', () => asked.destroy(new Error('no answer in time')));
    asked.once('error', () => {
      errors += 1;
    });
    asked.end(each.body);
  };

  const startedAt = performance.now();
  const elapsed = (): number => (performance.now() - startedAt) / 1_000;
  for (let now = 0; now < seconds; now = elapsed()) {
    for (const due = Math.floor(now * perSecond); sent < due; sent += 1) {
      const each = requests[sent % requests.length];
      if (each !== undefined) sendOne(each);
    }
    await wait(1);
  }
  const sentFor = elapsed();
  while (answered + errors < sent && elapsed() < sentFor + ANSWERED_WITHIN_MS / 1_000) await wait(5);
  agent.destroy();
  return {
    ...{ requests: answered, seconds: sentFor, errors, incomplete, withoutQuota },
    ...{ p50: latencies.quantile(0.5), p99: latencies.quantile(0.99) },
  };
}
