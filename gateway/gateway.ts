// The composition root: the only file that knows every part. Puts a gateway together from its documents and takes it apart.
// Reads the clocks that everything else is given.
import { openAdmin } from './admin/open-admin.ts';
import type { Readiness } from './admin/readiness.ts';
import type { GatewayFacts } from './cli/banner.ts';
import { isWhole, loadAll, type Whole } from './plan/load.ts';
import { hasErrors, type Problem, sortProblems } from './plan/problems.ts';
import { createPublishedHistory } from './plan/published-history.ts';
import type { Environment } from './plan/read/interpolate.ts';
import { watchPolicies } from './plan/reload.ts';
import type { EpochMs } from './policy/contract.ts';
import type { Override } from './policy/lifecycle/override.ts';
import { createPrimary, documentsOf, type Primary, workersOf } from './primary.ts';
import { listenFailure } from './server/listen-failure.ts';
import { openCertificates } from './server/public-certificates.ts';
import { createService, type Service } from './service.ts';
import { openStores } from './stores/open-stores.ts';
import { createDependencyReport } from './telemetry/dependency-report.ts';
import type { LogDestination } from './telemetry/log-sink.ts';
import { createReloadReport } from './telemetry/reload-report.ts';
import { createTelemetry, type Telemetry } from './telemetry/telemetry.ts';

export interface GatewayOptions {
  /** Path of `gateway.yaml`. */
  readonly configFile: string;
  readonly environment: Environment;
  /** The lifecycle clock; undefined: the real time. Tokens, TLS and limits always use the real time. */
  readonly lifecycleClock?: LifecycleClock;
  readonly log: LogDestination;
  /** Folders of the process and printed paths are relative to it; default: the working directory. */
  readonly cwd?: string;
  /** Told of each reload in one line for people, which the log has in full. */
  readonly onReload?: (line: string) => void;
}

export interface LifecycleClock {
  readonly now: () => EpochMs;
  /** How it was set, for the banner. */
  readonly description: string;
}

export interface Gateway {
  readonly facts: GatewayFacts;
  readonly logger: Telemetry['logger'];
  /** Reads the policy files again; the outcome is in the log and the metrics. */
  readonly reload: () => Promise<void>;
  /** Stops accepting, finishes what runs within the bound of a drain, lets go of everything. */
  readonly close: () => Promise<void>;
}

export type Started =
  /** `problems`: warnings only. */
  | { readonly kind: 'running'; readonly gateway: Gateway; readonly problems: readonly Problem[] }
  | { readonly kind: 'rejected'; readonly problems: readonly Problem[] };

/**
 * Starts a gateway: documents, store, certificate, listeners, in this order, so that nothing listens before all is well.
 * Problems in the documents are a result; whatever else keeps it from starting is thrown, with everything let go.
 */
export async function startGateway(options: GatewayOptions): Promise<Started> {
  const now = options.lifecycleClock?.now() ?? Date.now();
  const loaded = await loadAll({ ...options, now });
  if (!isWhole(loaded)) return { kind: 'rejected', problems: loaded.problems };

  const closing = new AsyncDisposableStack();
  try {
    const started = await assemble(options, loaded, closing);
    if (started.kind === 'rejected') await closing.disposeAsync();
    return started;
  } catch (error) {
    await closing.disposeAsync();
    throw listenFailure(error, loaded.settings.listeners);
  }
}

async function assemble(
  options: GatewayOptions,
  { settings, plan: firstPlan, policies, ...loaded }: Whole,
  closing: AsyncDisposableStack,
): Promise<Started> {
  const wallClock = Date.now;
  const now = options.lifecycleClock?.now ?? wallClock;
  const monotonic = () => performance.now();
  let plan = firstPlan;
  let state: Readiness['state'] = 'starting';
  let storeUp = false;
  // Those of the store, once it is open.
  let overrides: () => readonly Override[] = () => [];
  const workers = workersOf(settings);
  // Undefined where this process answers the requests itself.
  let primary: Primary | undefined;

  const telemetry = createTelemetry({
    plan: () => plan,
    now,
    overrides: () => overrides(),
    wallClock,
    monotonic,
    log: { destination: options.log, level: 'info' },
    workers: workers === 1 ? undefined : async () => (await primary?.snapshots()) ?? [],
  });
  closing.defer(telemetry.close);
  const { logger } = telemetry;
  const dependencies = createDependencyReport(telemetry);

  const stores = await openStores({
    ...settings,
    monotonic,
    onState: (up) => {
      storeUp = up;
      dependencies.onStore(settings.store.kind, up);
    },
    onFault: (error) => logger.error('the store failed', { error }),
    tell: async (news) => primary?.tell(news),
  });
  closing.defer(stores.close);
  overrides = stores.overrides.current;

  const history = createPublishedHistory({
    ...options,
    published: stores.published,
    now,
    records: options.lifecycleClock === undefined,
    onSkipped: dependencies.onHistorySkipped,
  });
  const problems = sortProblems([...loaded.problems, ...(await history.rewritten(policies))]);
  if (hasErrors(problems)) return { kind: 'rejected', problems };

  const certificates = await openCertificates(settings, firstPlan, wallClock(), telemetry.metrics);
  if (workers > 1) {
    const clockOffset = () => options.lifecycleClock && now() - wallClock();
    const documents = documentsOf(plan, policies);
    primary = createPrimary({
      settings,
      workers,
      documents,
      certificates,
      clockOffset,
      stores,
      telemetry,
      monotonic,
    });
  }
  const service: Service =
    primary ??
    createService({
      ...stores,
      settings,
      certificates,
      telemetry,
      plan: () => plan,
      now,
      wallClock,
      monotonic,
      overrides,
    });
  closing.defer(service.close);

  const report = createReloadReport(telemetry, options.onReload);
  const watch = watchPolicies({
    ...options,
    ...report,
    settings,
    revision: plan.revision,
    now,
    history,
    onPlan: async (next, warnings, accepted) => {
      await service.use(next, documentsOf(next, accepted));
      // After the workers, so that what is shown is in force everywhere.
      plan = next;
      report.onAccepted(next.revision, warnings);
    },
  });
  closing.defer(watch.close);

  // Before the public listeners, so that it outlives them: readiness is read while they drain.
  const admin = await openAdmin(settings, telemetry, {
    plan: () => plan,
    now,
    wallClock,
    overrides: stores.overrides,
    pins: stores.pins,
    readiness: () => ({
      state: state === 'ready' && service.serving() === 0 ? 'starting' : state,
      store: { kind: settings.store.kind, state: storeUp ? 'up' : 'down' },
      revision: plan.revision,
    }),
  });
  if (admin !== undefined) closing.defer(admin.close);

  const { https, http } = await service.listen();
  closing.defer(async () => {
    state = 'draining';
    await service.drain();
  });

  state = 'ready';
  logger.info('started', { revision: plan.revision, store: settings.store.kind });
  await history.record(policies);

  const gateway: Gateway = {
    facts: {
      listeners: { https, http, admin: admin && { address: admin.address } },
      store: settings.store,
      workers,
      fingerprint: certificates?.fingerprint,
      lifecycleClock: options.lifecycleClock?.description,
    },
    logger,
    reload: watch.reload,
    close: () => closing.disposeAsync(),
  };
  return { kind: 'running', gateway, problems };
}
