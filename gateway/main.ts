// The command line: arguments, environment and signals in, exit codes out.
// Everything it does is done by cli/ and gateway.ts; nothing else reads process.env.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderBanner } from './cli/banner.ts';
import { type CommandResult, exitCodeOf, runCheck } from './cli/check.ts';
import { runConfigShow, type ShownConfig } from './cli/config-show.ts';
import { printToken, runDemo } from './cli/demo.ts';
import { adviseOnGateway } from './cli/demo-failures.ts';
import { runDiff } from './cli/diff.ts';
import { runExplain } from './cli/explain.ts';
import { runExtend } from './cli/extend.ts';
import { runInit } from './cli/init.ts';
import type { MovedTo } from './cli/moved-to.ts';
import { type ApartResult, runOpenapi } from './cli/openapi.ts';
import type { OperatorResult } from './cli/operator-result.ts';
import { runPause } from './cli/pause.ts';
import { runPin } from './cli/pin.ts';
import { runProgram } from './cli/program.ts';
import { runReload } from './cli/reload.ts';
import { runSchema } from './cli/schema.ts';
import { runStatus } from './cli/status.ts';
import { runTimeline } from './cli/timeline.ts';
import { startGateway } from './gateway.ts';
import type { Gateway, GatewayOptions, LifecycleClock } from './gateway-contract.ts';
import { makeFolder } from './plan/make-folder.ts';
import { renderProblems } from './plan/problems.ts';
import { onShutdown } from './server/shutdown.ts';

const PROJECT_ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const STANDARD_OUTPUT = 1;
/** Where there is no terminal to ask. */
const DEFAULT_COLUMNS = 100;

/** The day the demo shows: orders v1 deprecated, v0 and catalog v1 retired, whenever it is run. */
const DEMO_DAY: MovedTo = { at: Date.UTC(2026, 10, 20), text: '2026-11-20' };

const CANNOT_START = 3;

/** Why nothing was started, with the exit code that says so. */
class NotStarted extends Error {
  readonly exitCode: number;
  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A lifecycle clock that shows an instant now and runs at the speed of the real one. */
function movedClock({ at, text }: MovedTo): LifecycleClock {
  const offset = at - Date.now();
  return { now: () => Date.now() + offset, description: text };
}

interface Start {
  readonly options: GatewayOptions;
  readonly movedTo: MovedTo | undefined;
  /** What to try, to follow the reason of a failure. */
  readonly advise: (error: unknown) => string;
}

async function start({ options, movedTo, advise }: Start): Promise<Gateway> {
  const started = await startGateway({
    ...options,
    ...(movedTo === undefined ? {} : { lifecycleClock: movedClock(movedTo) }),
  }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new NotStarted(CANNOT_START, `sundial: cannot start: ${reason}${advise(error)}`);
  });
  const { problems } = started;
  const text = renderProblems(problems, { colour: process.stderr.hasColors?.() ?? false });
  if (started.kind === 'rejected') throw new NotStarted(exitCodeOf(problems, false), text.trimEnd());
  process.stderr.write(text);
  reloadOnHangUp(started.gateway);
  return started.gateway;
}

/** Prints why nothing was started; anything unexpected is thrown on. */
function report(error: unknown): number {
  if (!(error instanceof NotStarted)) throw error;
  process.stderr.write(`${error.message}\n`);
  return error.exitCode;
}

async function run({ config, at }: { config: string; at: MovedTo | undefined }): Promise<number> {
  const options = { configFile: config, environment: process.env, log: STANDARD_OUTPUT };
  const gateway = await start({ options, movedTo: at, advise: () => '' });
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  onShutdown(gateway.drainMs, async ({ signal, error }) => {
    if (error !== undefined) gateway.logger.fatal('uncaught error; draining', { error });
    else gateway.logger.info('draining', { signal });
    await gateway.close();
    end(error === undefined ? 0 : 1);
  });
  // The log alone has stdout, so that every line there is JSON.
  process.stderr.write(renderBanner(gateway.facts));
  return ended;
}

/** Wherever it is called from: the files of the project, and its folder. */
async function demo(): Promise<number> {
  const folder = process.env.SUNDIAL_DATA || 'data';
  const log = resolve(PROJECT_ROOT, folder, 'gateway.log');
  await makeFolder(dirname(log), { mode: 0o700 });
  await runDemo({
    logFile: process.cwd() === PROJECT_ROOT ? join(folder, 'gateway.log') : log,
    environment: process.env,
    projectRoot: PROJECT_ROOT,
    out: (text) => process.stdout.write(text),
    startGateway: async (environment) => {
      const options = {
        configFile: 'config/gateway.yaml',
        cwd: PROJECT_ROOT,
        environment,
        log,
        onReload: (line: string) => void process.stderr.write(`sundial: ${line}\n`),
      };
      const gateway = await start({ options, movedTo: DEMO_DAY, advise: adviseOnGateway });
      return { ...gateway.facts, close: gateway.close };
    },
  });
  return 0;
}

function packageVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8'),
  );
  return version;
}

function reloadOnHangUp(gateway: Gateway): void {
  process.on('SIGHUP', () => void gateway.reload());
}

async function print(result: Promise<CommandResult>): Promise<number> {
  const { exitCode, text } = await result;
  process.stdout.write(text);
  return exitCode;
}

/** What was asked for goes to stdout, why it came to nothing to stderr: a pipe gets only the former. */
async function printApart(result: Promise<OperatorResult | ApartResult | ShownConfig>): Promise<number> {
  const { exitCode, stdout, stderr } = await result;
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  return exitCode;
}

/** What the commands that read the files are given besides their own options. */
function surroundings(config: string, at: MovedTo | undefined) {
  return {
    configFile: config,
    environment: process.env,
    now: at?.at ?? Date.now(),
    today: Date.now(),
    colour: process.stdout.hasColors?.() ?? false,
  };
}

// Who has read enough of what is printed (`| head`) is no failure: what was asked for is done all the same.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });

const exitCode = await runProgram(process.argv.slice(2), packageVersion(), {
  run,
  check: ({ at, config, live, ...options }) =>
    print(
      runCheck({
        ...options,
        ...surroundings(config, at),
        live: live ? { today: Date.now() } : undefined,
      }),
    ),
  explain: ({ at, config, ...options }) => print(runExplain({ ...options, ...surroundings(config, at) })),
  diff: ({ at, ...options }) => print(runDiff({ ...options, ...surroundings('', at) })),
  extend: ({ config, at, ...options }) => print(runExtend({ ...options, ...surroundings(config, at) })),
  timeline: ({ at, config, ...options }) =>
    print(
      runTimeline({
        ...options,
        ...surroundings(config, at),
        columns: process.stdout.columns ?? DEFAULT_COLUMNS,
      }),
    ),
  openapi: ({ at, config, ...options }) =>
    printApart(runOpenapi({ ...options, ...surroundings(config, at) })),
  init: ({ config, ...options }) => print(runInit({ ...options, ...surroundings(config, undefined) })),
  pause: (options) => printApart(runPause({ ...options, environment: process.env, now: Date.now() })),
  pin: (options) => printApart(runPin({ ...options, environment: process.env, now: Date.now() })),
  status: (options) => printApart(runStatus({ ...options, environment: process.env, now: Date.now() })),
  reload: (options) => printApart(runReload({ ...options, environment: process.env, now: Date.now() })),
  configShow: ({ config, ...options }) =>
    printApart(runConfigShow({ ...options, ...surroundings(config, undefined) })),
  schema: (options) => print(runSchema(options)),
  demo,
  token: ({ client }) => printToken({ client, environment: process.env, projectRoot: PROJECT_ROOT }),
}).catch(report);
process.exitCode = exitCode;
