// The sample services of the demo, and how to start one as a child process.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { Environment } from '../../plan/read/interpolate.ts';

export interface SampleService {
  readonly name: string;
  /** Arguments of node, relative to the project, the entry first. */
  readonly start: readonly [entry: string, ...more: string[]];
  /** Environment variable that sets its port. */
  readonly variable: string;
  /** What no longer works after its end. Follows its name in the message. */
  readonly loss: string;
}

const NO_ANSWERS = 'its routes answer 502';
const NO_KEYS = 'sign-in and new tokens fail; the gateway keeps the keys that it has fetched';
const NO_PAGE = 'its page does not load';

export const SAMPLE_SERVICES: readonly SampleService[] = [
  {
    name: 'identity',
    start: ['upstreams/identity/main.ts'],
    variable: 'SUNDIAL_ISSUER_PORT',
    loss: NO_KEYS,
  },
  {
    name: 'orders-v1',
    start: ['upstreams/orders/main.ts', 'v1'],
    variable: 'SUNDIAL_ORDERS_V1_PORT',
    loss: NO_ANSWERS,
  },
  {
    name: 'orders-v2',
    start: ['upstreams/orders/main.ts', 'v2'],
    variable: 'SUNDIAL_ORDERS_V2_PORT',
    loss: NO_ANSWERS,
  },
  {
    name: 'catalog',
    start: ['upstreams/catalog/main.ts'],
    variable: 'SUNDIAL_CATALOG_PORT',
    loss: NO_ANSWERS,
  },
  {
    name: 'payments',
    start: ['upstreams/payments/main.ts'],
    variable: 'SUNDIAL_PAYMENTS_PORT',
    loss: NO_ANSWERS,
  },
  { name: 'echo', start: ['upstreams/echo/main.ts'], variable: 'SUNDIAL_ECHO_PORT', loss: NO_ANSWERS },
  {
    name: 'webhooks',
    start: ['upstreams/webhooks/main.ts'],
    variable: 'SUNDIAL_WEBHOOKS_PORT',
    loss: 'its routes answer 502, and events wait in the services that made them',
  },
  {
    name: 'receiver',
    start: ['upstreams/receiver/main.ts'],
    variable: 'SUNDIAL_RECEIVER_PORT',
    loss: 'the webhooks service retries its deliveries',
  },
  { name: 'client', start: ['upstreams/client/main.ts'], variable: 'SUNDIAL_CLIENT_PORT', loss: NO_PAGE },
];

export const areSamplesIn = (projectRoot: string): boolean =>
  SAMPLE_SERVICES.every(({ start: [entry] }) => existsSync(join(projectRoot, entry)));

export interface SampleExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type SampleStart =
  /** `url`: the address that it has printed. */
  | { readonly kind: 'listening'; readonly url: string }
  | ({ readonly kind: 'ended' } & SampleExit)
  | { readonly kind: 'silent' };

export interface SampleProcess {
  readonly service: SampleService;
  readonly pid: number;
  readonly started: Promise<SampleStart>;
  readonly ended: Promise<SampleExit>;
  /** Sends SIGTERM, and SIGKILL after three seconds. */
  stop(): Promise<void>;
}

/** A busy machine starts a dozen processes slowly. */
const READY_WITHIN_MS = 60_000;
const END_WITHIN_MS = 3_000;

export function spawnSample(
  service: SampleService,
  environment: Environment,
  projectRoot: string,
): SampleProcess {
  const [entry, ...more] = service.start;
  const cache = getCompileCacheDir();
  const child = spawn(process.execPath, [join(projectRoot, entry), ...more], {
    cwd: projectRoot,
    env: cache === undefined ? environment : { ...environment, ...compiledIn(cache) },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = new Promise<SampleExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
  return {
    service,
    pid: child.pid ?? 0,
    started: Promise.race([
      readAddress(child, service.name).then((url): SampleStart => ({ kind: 'listening', url })),
      ended.then((ending): SampleStart => ({ kind: 'ended', ...ending })),
      pause(READY_WITHIN_MS, { kind: 'silent' } as const, { ref: false }),
    ]),
    ended,
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), END_WITHIN_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Children share the compile cache of this process. */
const compiledIn = (cache: string): Environment => ({
  NODE_COMPILE_CACHE: cache,
  NODE_COMPILE_CACHE_PORTABLE: '1',
});

function readAddress(child: ChildProcess, name: string): Promise<string> {
  return new Promise((resolve) => {
    if (child.stdout === null) return;
    // Reads on after the first line: a child blocks when its pipe is full.
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith(`ready ${name} `)) resolve(line.slice(`ready ${name} `.length));
    });
  });
}

/**
 * Events go to the webhooks service. It may deliver to the sample receiver, whose certificate it trusts. Services
 * with port 0 are not connected, because their port is unknown before it is bound.
 */
export function connectSamples(environment: Environment): Environment {
  const webhooks = portOf(environment.SUNDIAL_WEBHOOKS_PORT, '4006');
  const receiver = portOf(environment.SUNDIAL_RECEIVER_PORT, '4007');
  const certificate = join(environment.SUNDIAL_DATA || './data', 'receiver.crt');
  return {
    ...(webhooks !== undefined && { SUNDIAL_INTAKE: `http://127.0.0.1:${webhooks}/events` }),
    ...environment,
    ...(receiver !== undefined && {
      SUNDIAL_WEBHOOKS_ALLOW: listed(`localhost:${receiver}`, environment.SUNDIAL_WEBHOOKS_ALLOW),
      SUNDIAL_WEBHOOKS_CA: listed(certificate, environment.SUNDIAL_WEBHOOKS_CA),
    }),
  };
}

const listed = (...entries: readonly (string | undefined)[]): string => entries.filter(Boolean).join(',');

function portOf(value: string | undefined, fallback: string): string | undefined {
  const port = value || fallback;
  return port === '0' ? undefined : port;
}
