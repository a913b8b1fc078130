// The compared proxies, each in its own process in front of the same upstream.
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePorts } from '../support/ports.ts';
import { ask, NO_POLICY, type PolicyHeaders, policyHeaders } from './agreement.ts';
import { type Child, installed, startChild, startProgram, stopChild } from './children.ts';
import { fillTemplate, folderFor, type Ground } from './ground.ts';
import { residentMegabytes } from './processor.ts';
import { type BenchRequest, benchRequests } from './work.ts';

export interface PeerKind {
  /** The program that must be installed. Undefined if npm packages suffice. */
  readonly program?: string;
  /** True if it applies the policy. Other peers only forward. */
  readonly policy: boolean;
  readonly start: (launch: Launch) => Promise<Started>;
}

export interface Peer extends Started {
  readonly name: string;
  readonly pid: number;
  /** Headers that its responses must have. Empty without policy. */
  readonly headers: PolicyHeaders;
  /** File descriptor of its standard output, which is its access log. */
  readonly log: number;
  /** Resident memory after its first request, in MB. */
  readonly startedWith: number | undefined;
}

export interface LaunchOptions {
  /** Folder for a CPU profile of Sundial. */
  readonly profile?: string | undefined;
  /** The source tree of Sundial. Default: this one. */
  readonly root?: string;
  /** The gateway file of Sundial. Default: the one in `peers/`. */
  readonly config?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

interface Launch extends LaunchOptions {
  readonly ground: Ground;
  readonly folder: string;
  readonly log: number;
  readonly errors: number;
}

interface Started {
  readonly port: number;
  /** 0 without TLS. */
  readonly httpsPort: number;
  readonly child: Child;
}

export const PEERS = {
  'sundial, policy': { policy: true, start: (launch) => startSundial('full', launch) },
  'sundial, plain': { policy: false, start: (launch) => startSundial('plain', launch) },
  conventional: { policy: true, start: (launch) => startScript('conventional.ts', launch) },
  'reply-from': { policy: false, start: (launch) => startScript('reply-from.ts', launch) },
  'http-proxy-3': { policy: false, start: (launch) => startScript('http-proxy-3.ts', launch) },
  'haproxy, policy': { ...configured('haproxy', 'haproxy-policy.cfg', ['-db', '-f']), policy: true },
  'haproxy, plain': configured('haproxy', 'haproxy-plain.cfg', ['-db', '-f']),
  nginx: configured('nginx', 'nginx.conf', ['-e', 'stderr', '-c']),
  caddy: configured('caddy', 'Caddyfile', ['run', '--config']),
} satisfies Readonly<Record<string, PeerKind>>;

export type PeerName = keyof typeof PEERS;

export function isInstalled(name: PeerName): boolean {
  const { program }: PeerKind = PEERS[name];
  return program === undefined || installed(program) !== undefined;
}

/** Starts a peer and waits until it serves the sample request. `as`: its name in the output. */
export async function startPeer(
  name: PeerName,
  ground: Ground,
  { as = name, ...options }: LaunchOptions & { readonly as?: string } = {},
): Promise<Peer> {
  const folder = folderFor(as, ground.folder);
  const log = openSync(join(folder, 'output.log'), 'a');
  const errors = join(folder, 'errors.log');
  const launch = { ...options, ground, folder, log, errors: openSync(errors, 'a') };
  const started = await PEERS[name].start(launch);
  const [sample] = benchRequests(ground.tokens.slice(0, 1));
  if (sample === undefined) throw new Error('there is nothing to ask');
  await serves(started, sample).catch((error: Error) => {
    throw new Error(`${as} does not serve the sample request: ${error.message}\n${readFileSync(errors)}`);
  });
  const headers = PEERS[name].policy ? await policyHeaders(as, started.port, sample) : NO_POLICY;
  const { pid } = started.child;
  return { ...started, name: as, pid, headers, log, startedWith: residentMegabytes(pid) };
}

const COMPILED_WITHIN_MS = 10_000;

/** Starts Sundial once before the measured starts, because it saves compiled code at its end. */
export async function compileSundial(
  ground: Ground,
  options: LaunchOptions & { readonly as: string },
): Promise<void> {
  const { child } = await startPeer('sundial, policy', ground, options);
  await stopChild(child.process, COMPILED_WITHIN_MS);
}

async function startSundial(policies: 'full' | 'plain', launch: Launch): Promise<Started> {
  const { ground, folder, log, errors, profile, root = join(import.meta.dirname, '../..') } = launch;
  const [port = 0, httpsPort = 0, admin = 0] = await freePorts(3);
  const own = join(import.meta.dirname, 'peers/sundial');
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const config = launch.config ?? join(own, 'gateway.yaml');
  const child = await startChild(
    [...profiling, join(root, 'gateway/sundial.js'), 'run', '--config', config],
    {
      ...{ output: log, errors },
      environment: {
        ...{ ...ground.environment, BENCH_DATA: folder, BENCH_POLICIES: join(own, policies) },
        ...{ BENCH_PORT: `${port}`, BENCH_HTTPS_PORT: `${httpsPort}`, BENCH_ADMIN_PORT: `${admin}` },
        ...launch.environment,
      },
      prefix: ground.where.proxy,
      announces: false,
    },
  );
  return { port, httpsPort, child };
}

async function startScript(file: string, { ground, log, errors }: Launch): Promise<Started> {
  const { environment, where } = ground;
  const program = join(import.meta.dirname, 'peers', file);
  const options = { output: log, errors, environment, prefix: where.proxy, announces: true };
  const child = await startChild([program], options);
  return { port: child.port, httpsPort: 0, child };
}

/** An installed program. The path of its file is the last argument. */
function configured(program: string, template: string, before: readonly string[]): PeerKind {
  return {
    ...{ program, policy: false },
    start: (launch) => startConfigured([installed(program) ?? program, ...before], template, launch),
  };
}

async function startConfigured(
  words: readonly string[],
  template: string,
  { ground, folder, log, errors }: Launch,
): Promise<Started> {
  const [port = 0, httpsPort = 0] = await freePorts(2);
  const file = fillTemplate(template, folder, {
    ...ground.environment,
    ...{ BENCH_PORT: String(port), BENCH_HTTPS_PORT: String(httpsPort) },
  });
  const child = await startProgram([...words, file], {
    ...{ output: log, errors },
    environment: { HOME: folder },
    prefix: ground.where.proxy,
    announces: false,
  });
  return { port, httpsPort, child };
}

/** Waits until the sample is served. Rejects if the process ends, or after a minute. */
async function serves({ port, child }: Started, sample: BenchRequest): Promise<void> {
  const deadline = performance.now() + 60_000;
  let last = 'no answer';
  while (performance.now() < deadline && child.process.exitCode === null) {
    try {
      const answer = await ask(port, sample.path, sample.token);
      if (answer.status === 200) return;
      last = `status ${answer.status}: ${answer.body}`;
    } catch (error) {
      last = String(error);
    }
    await wait(100);
  }
  throw new Error(last);
}
