// The command line: arguments, environment and signals in, exit codes out.
import { readFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MovedTo } from './cli/command-setting.ts';
import { confirmOnTerminal, endWith, print, watchStreams } from './cli/printing.ts';
import { runProgram } from './cli/program.ts';
import type { StartActions } from './cli/start-commands.ts';
import type { Gateway, GatewayOptions, LifecycleClock } from './gateway-contract.ts';
import { keepMemoryLow } from './server/memory-settings.ts';

const PROJECT_ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const STANDARD_OUTPUT = 1;

/** The date of the demo: orders v1 is deprecated, v0 and catalog v1 are retired. */
const DEMO_DAY: MovedTo = { at: Date.UTC(2026, 10, 20), text: '2026-11-20' };

const CANNOT_START = 3;

class NotStarted extends Error {
  readonly exitCode: number;
  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A lifecycle clock that starts at an instant and runs at real speed. */
function movedClock({ at, text }: MovedTo, isObeyed: boolean): LifecycleClock {
  const offset = at - Date.now();
  return { now: () => Date.now() + offset, description: text, isObeyed };
}

interface Start {
  readonly options: GatewayOptions;
  readonly movedTo: MovedTo | undefined;
  /** Whether notices due by a moved clock are sent. */
  readonly notify: boolean;
  /** Advice that follows the reason of a failure. */
  readonly advise: (error: unknown) => string;
}

async function start({ options, movedTo, notify, advise }: Start): Promise<Gateway> {
  keepMemoryLow();
  const { startGateway } = await import('./gateway.ts');
  const { notStarted, renderProblems } = await import('./plan/problems.ts');
  const started = await startGateway({
    ...options,
    version: packageVersion(),
    ...(movedTo === undefined ? {} : { lifecycleClock: movedClock(movedTo, notify) }),
  }).catch((error: unknown) => {
    throw cannotStart(error, advise(error));
  });
  const { problems } = started;
  const text = renderProblems(problems, { colour: process.stderr.hasColors?.() ?? false });
  if (started.kind === 'rejected') {
    const { exitCodeOf } = await import('./cli/command-result.ts');
    throw new NotStarted(exitCodeOf(problems, false), `${text}sundial: ${notStarted(problems)}`);
  }
  process.stderr.write(text);
  reloadOnHangUp(started.gateway);
  return started.gateway;
}

function cannotStart(error: unknown, advice = ''): NotStarted {
  const reason = error instanceof Error ? error.message : String(error);
  return new NotStarted(CANNOT_START, `sundial: cannot start: ${reason}${advice}`);
}

/** Prints why the gateway did not start. Throws unexpected errors again. */
function report(error: unknown): number {
  if (!(error instanceof NotStarted)) throw error;
  process.stderr.write(`${error.message}\n`);
  return error.exitCode;
}

async function run({ config, at, notify }: Parameters<StartActions['run']>[0]): Promise<number> {
  // Installed before the gateway starts, so that an early signal is not lost.
  const { holdSignals, onShutdown } = await import('./server/shutdown.ts');
  const releaseSignals = holdSignals();
  // Workers inherit this environment.
  shareCompileCache();
  const { renderBanner } = await import('./cli/run/banner.ts');
  const sockets = await inheritedSockets();
  const options = { configFile: config, environment: process.env, log: STANDARD_OUTPUT, sockets };
  const gateway = await start({ options, movedTo: at, notify, advise: () => '' });
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  onShutdown(gateway.drainMs, async ({ signal, error }) => {
    if (error !== undefined) gateway.logger.fatal('uncaught error; draining', { error });
    else gateway.logger.info('draining', { signal });
    await gateway.close();
    end(error === undefined ? 0 : 1);
  });
  releaseSignals();
  // Standard output has only log lines, so that each is JSON.
  process.stderr.write(renderBanner({ ...gateway.facts, pid: process.pid }));
  return ended;
}

/** Uses the files and the data folder of the project from any working directory. */
async function demo(): Promise<number> {
  const folder = process.env.SUNDIAL_DATA || 'data';
  const log = resolve(PROJECT_ROOT, folder, 'gateway.log');
  const { lockDemoFolder } = await import('./stores/embedded/demo-folder.ts');
  using _held = await lockDemoFolder(dirname(log)).catch((error: unknown) => {
    throw cannotStart(error);
  });
  const { runDemo } = await import('./cli/demo/demo.ts');
  const { adviseOnGateway } = await import('./cli/demo/demo-failures.ts');
  return await runDemo({
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
      const gateway = await start({ options, movedTo: DEMO_DAY, notify: true, advise: adviseOnGateway });
      return { ...gateway.facts, close: gateway.close };
    },
  });
}

async function inheritedSockets(): Promise<GatewayOptions['sockets']> {
  const { takeInheritedSockets } = await import('./server/inherited-sockets.ts');
  try {
    return takeInheritedSockets(process.env, process.pid);
  } catch (error) {
    throw cannotStart(error);
  }
}

/** The launcher enabled the compile cache for this process only. */
function shareCompileCache(): void {
  const folder = getCompileCacheDir();
  if (folder !== undefined)
    Object.assign(process.env, { NODE_COMPILE_CACHE: folder, NODE_COMPILE_CACHE_PORTABLE: '1' });
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

watchStreams();
const exitCode = await runProgram(process.argv.slice(2), packageVersion(), {
  environment: process.env,
  now: Date.now,
  print,
  confirm: confirmOnTerminal,
  openGateway: async (options) => {
    const { openGateway } = await import('./cli/admin-client.ts');
    return openGateway({ ...options, environment: process.env, now: Date.now() });
  },
  readRecorded: async (store) => {
    const { readPublishedFrom } = await import('./stores/read-unopened.ts');
    return readPublishedFrom(store);
  },
  restoreBackup: async (folder, backup, at) => {
    const { restoreBackup } = await import('./stores/embedded/restore.ts');
    return restoreBackup(folder, backup, at);
  },
  unusableFolder: async (folder) => {
    const { unusableFolder } = await import('./stores/read-unopened.ts');
    return unusableFolder(folder);
  },
  unusableTracing: async (tracing) => {
    const { unusableTracing } = await import('./telemetry/traces/spans.ts');
    return unusableTracing(tracing);
  },
  actions: {
    run,
    demo,
    token: async ({ client }) => {
      const { printToken } = await import('./cli/demo/demo.ts');
      return printToken({ client, environment: process.env, projectRoot: PROJECT_ROOT });
    },
  },
}).catch(report);
endWith(exitCode);
