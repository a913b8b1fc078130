// Metrics and access log of the conventional peer: prom-client with labels, one pino line per request.
import { pino } from 'pino';
import { Counter, Histogram, Registry } from 'prom-client';

export interface Answered {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly seconds: number;
  readonly address: string;
  readonly version: string;
  readonly stage: string;
  readonly consumer: string;
  readonly carrier: string;
}

export interface Telemetry {
  readonly registry: Registry;
  readonly answered: (answer: Answered) => void;
}

export function createTelemetry(): Telemetry {
  const registry = new Registry();
  const requests = new Counter({
    name: 'gateway_requests_total',
    help: 'Answers by API, version, stage, consumer, method and status.',
    labelNames: ['api', 'version', 'stage', 'consumer', 'method', 'status'] as const,
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'gateway_request_duration_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['api', 'version'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  // Asynchronous and buffered, as pino's documentation recommends for throughput.
  const log = pino(pino.destination({ dest: 1, sync: false, minLength: 4096 }));

  return {
    registry,
    answered: (answer) => {
      const { version, stage, consumer, method, status, seconds } = answer;
      requests.inc({ api: 'orders', version, stage, consumer, method, status: String(status) });
      durations.observe({ api: 'orders', version }, seconds);
      log.info({ api: 'orders', ...answer }, 'request');
    },
  };
}
