// Runs a gateway inside a test: real sockets on free ports, a temporary data folder, and parsed log lines.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { vi } from 'vitest';
import { startGateway } from '../../gateway/gateway.ts';
import type { Gateway } from '../../gateway/gateway-contract.ts';
import { ADMIN_TOKEN_FILE } from '../../gateway/plan/grammar/listeners-section.ts';
import { createPolicyReader } from '../../gateway/plan/loader-thread/policy-reader.ts';
import { renderProblems } from '../../gateway/plan/problems.ts';
import { overHttp1 } from './http-client.ts';

export type LogLine = Readonly<Record<string, unknown>>;

export interface RunGateway {
  /** The lifecycle clock; default: it stands still at 2026-11-20. */
  readonly lifecycleNow?: () => number;
  /** Uses the real clock as lifecycle clock; only then are published schedules recorded. */
  readonly realClock?: boolean;
  /** Path below test/journeys or an absolute one; default: the shared `gateway.yaml`. */
  readonly config?: string;
  /** Folder of policies below test/journeys, or an absolute one. */
  readonly policies?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Reads reloads in a thread, as in production. Default: no thread, because it starts slower than a gateway. */
  readonly reloadThread?: boolean;
}

export interface RunningGateway extends AsyncDisposable {
  /** Ports as bound. */
  readonly https: number;
  readonly http: number;
  readonly admin: number;
  /** 0 without a metrics listener. */
  readonly metrics: number;
  readonly adminToken: () => Promise<string>;
  readonly reload: Gateway['reload'];
  /** Every log line so far, requests included. */
  readonly log: readonly LogLine[];
  /** The log as written, line ends included. */
  readonly logText: () => string;
  /** The access log line of a request; waits until it is written. */
  readonly accessLine: (requestId: string | undefined) => Promise<LogLine>;
  /** The value of a series in /metrics, as `name` or `name{label="value",…}` in the order of the page. */
  readonly metric: (series: string) => Promise<number | undefined>;
}

const DAY = Date.UTC(2026, 10, 20);
/** Written before the log is read: it makes the logger write its batch. */
const FLUSHED = 'a test reads the log';
const FLUSHED_LINE = new RegExp(`^.*"message":"${FLUSHED}"}\\n`, 'gm');
const JOURNEYS = join(import.meta.dirname, '../journeys');

/** @throws Error with the rendered problems if the YAML is invalid */
export async function runGateway(options: RunGateway): Promise<RunningGateway> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sundial-journey-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const log: LogLine[] = [];
  let logText = '';
  const policies = options.policies ?? '';
  const started = await startGateway({
    configFile: resolve(JOURNEYS, options.config ?? 'gateway.yaml'),
    ...(options.realClock
      ? {}
      : {
          lifecycleClock: { now: options.lifecycleNow ?? (() => DAY), description: 'a test', isObeyed: true },
        }),
    ...(!options.reloadThread && { openReader: createPolicyReader }),
    environment: {
      DATA: folder,
      STORE: `embedded:${folder}`,
      // No service listens there; for journeys whose APIs are all public.
      ISSUER: 'http://127.0.0.1:9',
      POLICIES: join(resolve(JOURNEYS, policies), '*.yaml'),
      ...options.environment,
    },
    log: {
      write: (text: string) => {
        const others = text.replaceAll(FLUSHED_LINE, '');
        logText += others;
        for (const line of others.split('\n')) if (line !== '') log.push(JSON.parse(line));
      },
    },
  });
  if (started.kind === 'rejected') throw new Error(renderProblems(started.problems, { colour: false }));
  const { gateway } = started;
  stack.defer(gateway.close);
  const open = stack.move();
  const { https, http, admin, metrics } = gateway.facts.listeners;
  const adminPort = admin?.address.port ?? 0;
  const flushed = (): readonly LogLine[] => {
    gateway.logger.info(FLUSHED);
    return log;
  };
  return {
    https: https?.address.port ?? 0,
    http: http?.address.port ?? 0,
    admin: adminPort,
    metrics: metrics?.address.port ?? 0,
    adminToken: async () => {
      const kept = await readFile(join(options.environment?.DATA ?? folder, ADMIN_TOKEN_FILE), 'utf8');
      return kept.trim();
    },
    reload: gateway.reload,
    get log() {
      return flushed();
    },
    logText: () => {
      flushed();
      return logText;
    },
    accessLine: (requestId) =>
      vi.waitFor(
        () => {
          const line = flushed().find((each) => each.log === 'access' && each.request_id === requestId);
          if (line === undefined) throw new Error(`no access line for request ${requestId}`);
          return line;
        },
        { timeout: 20_000, interval: 5 },
      ),
    metric: async (series) => {
      await using client = overHttp1(adminPort, { tls: false });
      const { text } = await client.ask({ path: '/metrics' });
      const line = text.split('\n').find((each) => each.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length + 1));
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
