// `npm start`: runs the sample services as child processes and the gateway in this process.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Environment } from '../../plan/read/interpolate.ts';
import { type GatewayFacts, renderBanner } from '../run/banner.ts';
import { explainPorts, explainSamples, type FailedSample, WITHOUT_SAMPLES } from './demo-failures.ts';
import {
  areSamplesIn,
  connectSamples,
  SAMPLE_SERVICES,
  type SampleProcess,
  type SampleStart,
  spawnSample,
} from './sample-services.ts';

export interface RunningGateway extends GatewayFacts {
  close(): Promise<void>;
}

export interface DemoOptions {
  readonly environment: Environment;
  readonly projectRoot: string;
  /** Starts the gateway in this process. The environment has the ports that the samples listen on. */
  readonly startGateway: (environment: Environment) => Promise<RunningGateway>;
  readonly out: (text: string) => void;
  readonly logFile: string;
}

// Ctrl-C may reach a child before this process. A child's end is reported only if the demo itself does not end.
const NEWS_AFTER_MS = 300;

// npm forwards the interrupt that the terminal has sent already, so it arrives twice.
const SAME_SIGNAL_MS = 500;

interface EndRequest {
  /** Resolves at the first request. */
  readonly promise: Promise<undefined>;
  isRequested(): boolean;
  request(): void;
}

/**
 * Exits with 0 at SIGINT or SIGTERM; a second signal exits at once. Resolves with 2 if a port is invalid, and with 3
 * if a sample service is missing or cannot start. If `startGateway` rejects, stops the samples and rejects.
 */
export async function runDemo({
  environment,
  projectRoot,
  startGateway,
  out,
  logFile,
}: DemoOptions): Promise<number> {
  if (!areSamplesIn(projectRoot)) {
    process.stderr.write(WITHOUT_SAMPLES);
    return 3;
  }
  const misread = explainPorts(environment);
  if (misread !== '') {
    process.stderr.write(misread);
    return 2;
  }
  const endRequest = listenForEnd();
  const theirs = connectSamples(environment);
  const samples = SAMPLE_SERVICES.map((service) => spawnSample(service, theirs, projectRoot));
  const stopSamples = () => Promise.all(samples.map((sample) => sample.stop()));

  const starts = await Promise.race([Promise.all(samples.map(awaitStart)), endRequest.promise]);
  if (starts === undefined) {
    await stopSamples();
    process.exit(0);
  }
  const started: StartedSample[] = [];
  const failed: FailedSample[] = [];
  for (const { sample, start } of starts) {
    if (start.kind === 'listening') started.push({ sample, url: start.url });
    else failed.push({ service: sample.service, start });
  }
  if (failed.length > 0) {
    await stopSamples();
    process.stderr.write(explainSamples(failed));
    return 3;
  }

  const bound = boundPorts(started);
  const gateway = await startGateway({ ...environment, ...bound }).catch(async (error: unknown) => {
    await stopSamples();
    throw error;
  });
  for (const sample of samples) reportEnd(sample, endRequest);
  const shown = started.map(({ sample, url }) => ({ name: sample.service.name, url, pid: sample.pid }));
  const tokenCommand = nameTokenCommand(environment, bound, projectRoot);
  if (!endRequest.isRequested())
    out(renderBanner({ ...gateway, trial: { samples: shown, tokenCommand, logFile } }));

  await endRequest.promise;
  await gateway.close().finally(stopSamples);
  process.exit(0);
}

export interface TokenOptions {
  /** Undefined: the default client of the token command. */
  readonly client: string | undefined;
  readonly environment: Environment;
  readonly projectRoot: string;
}

/** Runs the token command of the sample issuer. Resolves with its exit code, or with 3 if the samples are missing. */
export async function printToken({ client, environment, projectRoot }: TokenOptions): Promise<number> {
  if (!areSamplesIn(projectRoot)) {
    process.stderr.write(WITHOUT_SAMPLES);
    return 3;
  }
  return new Promise((resolve, reject) => {
    const command = [
      join(projectRoot, 'upstreams/identity/token.ts'),
      ...(client === undefined ? [] : [client]),
    ];
    const child = spawn(process.execPath, command, {
      cwd: projectRoot,
      env: environment,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

interface StartedSample {
  readonly sample: SampleProcess;
  readonly url: string;
}

async function awaitStart(sample: SampleProcess): Promise<{ sample: SampleProcess; start: SampleStart }> {
  return { sample, start: await sample.started };
}

function boundPorts(started: readonly StartedSample[]): Environment {
  return Object.fromEntries(started.map(({ sample, url }) => [sample.service.variable, new URL(url).port]));
}

function reportEnd({ service, ended }: SampleProcess, endRequest: EndRequest): void {
  const report = async () => {
    const { code, signal } = await ended;
    // A SIGHUP of a child means that the terminal was closed, so Ctrl-C can no longer come.
    if (signal === 'SIGHUP') endRequest.request();
    setTimeout(() => {
      if (endRequest.isRequested()) return;
      process.stderr.write(`sundial: ${service.name} ended (${signal ?? `exit ${code}`}); ${service.loss}\n`);
    }, NEWS_AFTER_MS);
  };
  report().catch((error: unknown) => process.stderr.write(`sundial: ${String(error)}\n`));
}

// The token must name the issuer that the gateway trusts, so the command needs the issuer's port and data folder.
function nameTokenCommand(environment: Environment, bound: Environment, projectRoot: string): string {
  const port = bound.SUNDIAL_ISSUER_PORT === '4000' ? undefined : bound.SUNDIAL_ISSUER_PORT;
  const moved = { SUNDIAL_ISSUER_PORT: port, SUNDIAL_DATA: environment.SUNDIAL_DATA };
  const prefix = Object.entries(moved).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${quote(value)} `],
  );
  const elsewhere = process.cwd() === projectRoot ? '' : `--prefix ${quote(projectRoot)} `;
  return `${prefix.join('')}npm ${elsewhere}run -s token`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** The first SIGINT or SIGTERM requests the end. A later one exits at once with 130. */
function listenForEnd(): EndRequest {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  let isRequested = false;
  let isSecondMeant = false;
  const ask = () => {
    isRequested = true;
    resolve(undefined);
  };
  const onSignal = () => {
    if (isSecondMeant) process.exit(130);
    ask();
    setTimeout(() => {
      isSecondMeant = true;
    }, SAME_SIGNAL_MS).unref();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return { promise, isRequested: () => isRequested, request: ask };
}
