// Telemetry with fixed clocks that writes into memory, and a reader of its metrics page.
import type { ExchangeOutcome } from '../../gateway/exchange/exchange.ts';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import type { Override } from '../../gateway/policy/lifecycle/override.ts';
import type { MetricsSnapshot } from '../../gateway/telemetry/snapshots.ts';
import { createTelemetry, type Telemetry } from '../../gateway/telemetry/telemetry.ts';
import { deprecatedFacts, NOW, plan } from '../support/exchange-samples.ts';

export const WALL = Date.UTC(2026, 10, 21, 7, 30, 0, 123);

/** The default settings of the access log. */
export const EVERY_FIELD = { fields: 'all', sampled: 1, excluded: [] } as const;

export interface Harness {
  readonly telemetry: Telemetry;
  readonly text: () => string;
  /** Complete lines, parsed. */
  readonly lines: () => Promise<Record<string, unknown>[]>;
  /** Series whose names start with `prefix`, by the text before the value. */
  readonly series: (prefix: string) => Promise<Record<string, number>>;
  /** The same without series at 0. */
  readonly moved: (prefix: string) => Promise<Record<string, number>>;
  readonly clocks: { lifecycle: number; wall: number; monotonic: number };
}

export function harness(
  current: () => GatewayPlan = plan,
  overrides: () => readonly Override[] = () => [],
  workers?: () => Promise<readonly MetricsSnapshot[]>,
): Harness {
  let written = '';
  const clocks = { lifecycle: NOW, wall: WALL, monotonic: 0 };
  const telemetry = createTelemetry({
    plan: current,
    now: () => clocks.lifecycle,
    overrides,
    wallClock: () => clocks.wall,
    monotonic: () => clocks.monotonic,
    log: {
      write: (text) => {
        written += text;
      },
    },
    settings: { logLevel: 'info', accessLog: EVERY_FIELD, tracing: { starts: false, sampled: 0 } },
    workers,
  });
  const series = async (prefix: string): Promise<Record<string, number>> => {
    const { body } = await telemetry.metrics.render();
    const lines = body.split('\n').filter((line) => line.startsWith(prefix));
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    );
  };
  return {
    telemetry,
    clocks,
    text: () => written,
    lines: async () => {
      await telemetry.close();
      return written.split('\n').slice(0, -1).map(parseObject);
    },
    series,
    moved: async (prefix) =>
      Object.fromEntries(Object.entries(await series(prefix)).filter(([, value]) => value !== 0)),
  };
}

export function outcome(changes: Partial<ExchangeOutcome> = {}): ExchangeOutcome {
  return {
    method: 'GET',
    host: 'api.example.com',
    path: '/api/v1/orders/7',
    status: 200,
    bytes: 512,
    clientAddress: '203.0.113.9',
    clientNetwork: '203.0.113.9',
    scheme: 'https',
    protocol: 'HTTP/2.0',
    aborted: false,
    userAgent: 'curl/8.5.0',
    ...changes,
  };
}

export function unrouted(): ExchangeFacts {
  const nothing = { api: undefined, version: undefined, carrier: undefined, phase: undefined };
  return deprecatedFacts({ ...nothing, quotas: undefined });
}

function parseObject(line: string): Record<string, unknown> {
  const value: unknown = JSON.parse(line);
  if (typeof value !== 'object' || value === null) throw new Error(`not an object: ${line}`);
  return Object.fromEntries(Object.entries(value));
}
