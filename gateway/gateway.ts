// The composition root: the only file that knows every part. Puts a gateway together from its documents and takes it apart.
// Reads the clocks that everything else is given.
import { openAdmin } from './admin/open-admin.ts';
import type { Readiness } from './admin/readiness.ts';
import type { GatewayFacts } from './cli/banner.ts';
import { createExchange } from './exchange/exchange.ts';
import { createForwarding } from './forward/forwarding.ts';
import { createPools } from './forward/pools.ts';
import { openVerifiers } from './identity/verifiers.ts';
import { isWhole, loadAll, type Whole } from './plan/load.ts';
import { hasErrors, type Problem, sortProblems } from './plan/problems.ts';
import { createPublishedHistory } from './plan/published-history.ts';
import type { Environment } from './plan/read/interpolate.ts';
import { watchPolicies } from './plan/reload.ts';
import type { EpochMs } from './policy/contract.ts';
import type { Override } from './policy/lifecycle/override.ts';
import { DRAIN_MS, drain } from './server/drain.ts';
import { listenFailure } from './server/listen-failure.ts';
import { openCertificates } from './server/public-certificates.ts';
import { openPublicListeners } from './server/public-listeners.ts';
import { openStores } from './stores/open-stores.ts';
import { createDependencyReport } from './telemetry/dependency-report.ts';
import { createFaultReport } from './telemetry/fault-report.ts';
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

/** Connections to one target. */
const UPSTREAM_CONNECTIONS = 256;

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

  const telemetry = createTelemetry({
    plan: () => plan,
    now,
    overrides: () => overrides(),
    wallClock,
    monotonic,
    log: { destination: options.log, level: 'info' },
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
  const verifiers = openVerifiers(settings.identities, { now: wallClock, onKeys: dependencies.onKeys });
  for (const verifier of verifiers.values()) closing.defer(verifier.close);

  const exchange = createExchange({
    plan: () => plan,
    now,
    wallClock,
    monotonic,
    guard: stores.guard,
    limiter: stores.limiter,
    pins: stores.pins,
    overrides: stores.overrides.current,
    verifiers,
    hstsSeconds: settings.listeners.https?.hstsSeconds,
    onFault: createFaultReport(logger),
  });
  const pools = createPools({ connections: UPSTREAM_CONNECTIONS });
  closing.defer(pools.close);
  pools.keepOnly(plan);

  const report = createReloadReport(telemetry, options.onReload);
  const watch = watchPolicies({
    ...options,
    ...report,
    settings,
    revision: plan.revision,
    now,
    history,
    onPlan: (next, warnings) => {
      plan = next;
      pools.keepOnly(next);
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
      state,
      store: { kind: settings.store.kind, state: storeUp ? 'up' : 'down' },
      revision: plan.revision,
    }),
  });
  if (admin !== undefined) closing.defer(admin.close);

  const { listeners, https, http } = await openPublicListeners(settings.listeners, certificates, {
    trustedProxies: settings.trustedProxies,
    exchange,
    observer: telemetry.observer,
    ...createForwarding({ ...telemetry.metrics, exchange, pools }),
    now: wallClock,
  });
  closing.defer(async () => {
    const finished = await drain({
      listeners,
      onDraining: () => {
        state = 'draining';
      },
      timeoutMs: DRAIN_MS,
    });
    if (!finished) logger.warn('requests were cut at the end of the drain');
  });

  for (const verifier of verifiers.values()) void verifier.warm();
  state = 'ready';
  logger.info('started', { revision: plan.revision, store: settings.store.kind });
  await history.record(policies);

  const gateway: Gateway = {
    facts: {
      listeners: { https, http, admin: admin && { address: admin.address } },
      store: settings.store,
      fingerprint: certificates?.fingerprint,
      lifecycleClock: options.lifecycleClock?.description,
    },
    logger,
    reload: watch.reload,
    close: () => closing.disposeAsync(),
  };
  return { kind: 'running', gateway, problems };
}
