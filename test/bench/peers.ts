// The three proxies under comparison, each a process of its own in front of the same upstream.
// run.ts starts them and stops them.
import type { ChildProcess } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ask, NO_POLICY, type PolicyHeaders, policyHeaders } from './agreement.ts';
import { type Child, freePort, startChild } from './children.ts';
import type { BenchRequest } from './work.ts';

export const PEERS = ['sundial', 'conventional', 'plain'] as const;
export type PeerName = (typeof PEERS)[number];

export interface Peer {
  readonly name: PeerName;
  readonly pid: number;
  readonly process: ChildProcess;
  readonly port: number;
  /** What its answers must carry; nothing for the peer without policy. */
  readonly headers: PolicyHeaders;
  /** File descriptor of its access log, a file in the run's temporary folder. */
  readonly log: number;
}

export interface PeerOptions {
  /** The addresses of upstream, issuer and Redis. */
  readonly environment: Readonly<Record<string, string>>;
  readonly prefix: readonly string[];
  /** Temporary folder of this run. */
  readonly folder: string;
  readonly sample: BenchRequest;
  /** Where Sundial leaves a processor profile; undefined for none. */
  readonly profile: string | undefined;
  /** Of Sundial; default: the one beside this file. */
  readonly config?: string;
}

/** Starts one peer; resolves when it serves the sample request. */
export async function startPeer(name: PeerName, options: PeerOptions): Promise<Peer> {
  const log = openSync(join(options.folder, `${name}.log`), 'a');
  const { port, child } =
    name === 'sundial' ? await startSundial(log, options) : await startBesides(name, log, options);
  await serves(name, port, child, options.sample);
  const headers = name === 'plain' ? NO_POLICY : await policyHeaders(name, port, options.sample);
  return { name, pid: child.pid, process: child.process, port, headers, log };
}

interface Started {
  readonly port: number;
  readonly child: Child;
}

async function startSundial(log: number, options: PeerOptions): Promise<Started> {
  const port = await freePort();
  const admin = await freePort();
  const profiling = options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
  const config = options.config ?? join(import.meta.dirname, 'gateway.yaml');
  const launcher = join(import.meta.dirname, '../../gateway/sundial.js');
  const child = await startChild([...profiling, launcher, 'run', '--config', config], {
    output: log,
    environment: { ...options.environment, BENCH_PORT: String(port), BENCH_ADMIN_PORT: String(admin) },
    prefix: options.prefix,
    announces: false,
  });
  return { port, child };
}

async function startBesides(
  name: Exclude<PeerName, 'sundial'>,
  log: number,
  options: PeerOptions,
): Promise<Started> {
  const { environment, prefix } = options;
  const program = join(import.meta.dirname, `${name}.ts`);
  const child = await startChild([program], { output: log, environment, prefix, announces: true });
  return { port: child.port, child };
}

/** Asks until the sample is served; gives up when the process ends or after a minute. */
async function serves(name: PeerName, port: number, child: Child, sample: BenchRequest): Promise<void> {
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
  throw new Error(`${name} does not serve the sample request: ${last}`);
}
