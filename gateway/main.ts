// The command line: arguments, environment and signals in, exit codes out.
// Everything it does is done by cli/ and gateway.ts, loaded by the command that needs it; nothing else reads process.env.
import { readFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MovedTo } from './cli/command-setting.ts';
import { liveActions } from './cli/live-actions.ts';
import { endWith, print, printApart, printWhole, watchStreams } from './cli/printing.ts';
import { runProgram } from './cli/program.ts';
import type { StartActions } from './cli/start-commands.ts';
import type { Gateway, GatewayOptions, LifecycleClock } from './gateway-contract.ts';
import { keepMemoryLow } from './server/memory-settings.ts';

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
function movedClock({ at, text }: MovedTo, isObeyed: boolean): LifecycleClock {
  const offset = at - Date.now();
  return { now: () => Date.now() + offset, description: text, isObeyed };
}

interface Start {
  readonly options: GatewayOptions;
  readonly movedTo: MovedTo | undefined;
  /** Whether people are told what is due by a moved clock. */
  readonly notify: boolean;
  /** What to try, to follow the reason of a failure. */
  readonly advise: (error: unknown) => string;
}

async function start({ options, movedTo, notify, advise }: Start): Promise<Gateway> {
  keepMemoryLow();
  const { startGateway } = await import('./gateway.ts');
  const { notStarted, renderProblems } = await import('./plan/problems.ts');
  const started = await startGateway({
    ...options,
    ...(movedTo === undefined ? {} : { lifecycleClock: movedClock(movedTo, notify) }),
  }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new NotStarted(CANNOT_START, `sundial: cannot start: ${reason}${advise(error)}`);
  });
  const { problems } = started;
  const text = renderProblems(problems, { colour: process.stderr.hasColors?.() ?? false });
  if (started.kind === 'rejected') {
    const { exitCodeOf } = await import('./cli/exit-code.ts');
    throw new NotStarted(exitCodeOf(problems, false), `${text}sundial: ${notStarted(problems)}`);
  }
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

async function run({ config, at, notify }: Parameters<StartActions['run']>[0]): Promise<number> {
  // It listens before there is a gateway to end or to reload: a signal that comes then is not to find nobody.
  const { holdSignals, onShutdown } = await import('./server/shutdown.ts');
  const heedSignals = holdSignals();
  // Workers are started with this environment.
  shareCompileCache();
  const { renderBanner } = await import('./cli/run/banner.ts');
  const options = { configFile: config, environment: process.env, log: STANDARD_OUTPUT };
  const gateway = await start({ options, movedTo: at, notify, advise: () => '' });
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  onShutdown(gateway.drainMs, async ({ signal, error }) => {
    if (error !== undefined) gateway.logger.fatal('uncaught error; draining', { error });
    else gateway.logger.info('draining', { signal });
    await gateway.close();
    end(error === undefined ? 0 : 1);
  });
  heedSignals();
  // The log alone has stdout, so that every line there is JSON.
  process.stderr.write(renderBanner(gateway.facts));
  return ended;
}

/** Wherever it is called from: the files of the project, and its folder. */
async function demo(): Promise<number> {
  const folder = process.env.SUNDIAL_DATA || 'data';
  const log = resolve(PROJECT_ROOT, folder, 'gateway.log');
  const { holdDemoFolder } = await import('./stores/embedded/held-folder.ts');
  using _held = await holdDemoFolder(dirname(log)).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new NotStarted(CANNOT_START, `sundial: cannot start: ${reason}`);
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

/** What the launcher switched on for this process alone. */
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

/** What the commands that read the files are given besides their own options; `findings`: where these are printed. */
function surroundings(
  config: string,
  at: MovedTo | undefined,
  findings: NodeJS.WriteStream = process.stdout,
) {
  return {
    configFile: config,
    environment: process.env,
    now: at?.at ?? Date.now(),
    today: Date.now(),
    // A pipe is no terminal, and has no such method.
    colour: findings.hasColors?.() ?? false,
  };
}

watchStreams();
const exitCode = await runProgram(process.argv.slice(2), packageVersion(), {
  run,
  check: async ({ at, config, live, store, ...options }) => {
    const { runCheck } = await import('./cli/check/check.ts');
    const reach = live ? { today: Date.now() } : undefined;
    const recorded = store ? (await import('./stores/read-published.ts')).readPublishedFrom : undefined;
    return print(runCheck({ ...options, ...surroundings(config, at), live: reach, store: recorded }));
  },
  explain: async ({ at, config, ...options }) => {
    const { runExplain } = await import('./cli/explain/explain.ts');
    return printWhole(runExplain({ ...options, ...surroundings(config, at, process.stderr) }));
  },
  diff: async ({ at, config, ...options }) => {
    const { runDiff } = await import('./cli/diff/diff.ts');
    return print(runDiff({ ...options, ...surroundings(config, at) }));
  },
  extend: async ({ config, at, ...options }) => {
    const { runExtend } = await import('./cli/extend/extend.ts');
    return printWhole(runExtend({ ...options, ...surroundings(config, at) }));
  },
  timeline: async ({ at, config, ...options }) => {
    const { runTimeline } = await import('./cli/timeline/timeline.ts');
    const columns = process.stdout.columns ?? DEFAULT_COLUMNS;
    return printWhole(runTimeline({ ...options, ...surroundings(config, at), columns }));
  },
  openapi: async ({ at, config, ...options }) => {
    const { runOpenapi } = await import('./cli/openapi/openapi.ts');
    return printApart(runOpenapi({ ...options, ...surroundings(config, at, process.stderr) }));
  },
  init: async ({ config, ...options }) => {
    const { runInit } = await import('./cli/init/init.ts');
    return printWhole(runInit({ ...options, ...surroundings(config, undefined, process.stderr) }));
  },
  ...liveActions({ environment: process.env, now: Date.now, print: printApart }),
  configShow: async ({ config, ...options }) => {
    const { runConfigShow } = await import('./cli/config/config-show.ts');
    return printApart(runConfigShow({ ...options, ...surroundings(config, undefined) }));
  },
  schema: async (options) => {
    const { runSchema } = await import('./cli/schema/schema.ts');
    return printWhole(runSchema(options));
  },
  demo,
  token: async ({ client }) => {
    const { printToken } = await import('./cli/demo/demo.ts');
    return printToken({ client, environment: process.env, projectRoot: PROJECT_ROOT });
  },
}).catch(report);
endWith(exitCode);
