// The composition root: the only file that knows every part. Puts a gateway together from its documents and takes it apart.
// Reads the clocks that everything else is given.
import { type AdminListener, createAdminListener } from './admin/admin-listener.ts';
import type { Readiness } from './admin/readiness.ts';
import type { GatewayFacts } from './cli/banner.ts';
import { createExchange } from './exchange/exchange.ts';
import { createForwarder } from './forward/forwarder.ts';
import { createPools } from './forward/pools.ts';
import { openVerifiers } from './identity/verifiers.ts';
import type { Environment } from './plan/interpolate.ts';
import { loadAll } from './plan/load.ts';
import type { GatewayPlan } from './plan/plan.ts';
import type { Problem } from './plan/problems.ts';
import { watchPolicies } from './plan/reload.ts';
import type { Settings } from './plan/settings.ts';
import type { EpochMs } from './policy/contract.ts';
import { DRAIN_MS, drain } from './server/drain.ts';
import { listenFailure } from './server/listen-failure.ts';
import { openCertificates } from './server/public-certificates.ts';
import { openPublicListeners } from './server/public-listeners.ts';
import { openRateLimits } from './stores/open-rate-limits.ts';
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
  const { settings, problems } = loaded;
  if (settings === undefined || loaded.plan === undefined) return { kind: 'rejected', problems };

  const closing = new AsyncDisposableStack();
  try {
    const gateway = await assemble(options, settings, loaded.plan, closing);
    return { kind: 'running', gateway, problems };
  } catch (error) {
    await closing.disposeAsync();
    throw listenFailure(error, settings.listeners);
  }
}

async function assemble(
  options: GatewayOptions,
  settings: Settings,
  firstPlan: GatewayPlan,
  closing: AsyncDisposableStack,
): Promise<Gateway> {
  const wallClock = Date.now;
  const now = options.lifecycleClock?.now ?? wallClock;
  const monotonic = () => performance.now();
  let plan = firstPlan;
  let state: Readiness['state'] = 'starting';
  let storeUp = false;

  const telemetry = createTelemetry({
    plan: () => plan,
    now,
    wallClock,
    monotonic,
    log: { destination: options.log, level: 'info' },
  });
  closing.defer(telemetry.close);
  const { logger } = telemetry;
  const dependencies = createDependencyReport(telemetry);

  const limits = await openRateLimits({
    store: settings.store,
    replicas: settings.replicas,
    monotonic,
    onState: (up) => {
      storeUp = up;
      dependencies.onStore(settings.store.kind, up);
    },
  });
  closing.defer(limits.close);

  const certificates = await openCertificates(settings, firstPlan, wallClock(), telemetry.metrics);
  const verifiers = openVerifiers(settings.identities, { now: wallClock, onKeys: dependencies.onKeys });
  for (const verifier of verifiers.values()) closing.defer(verifier.close);

  const exchange = createExchange({
    plan: () => plan,
    now,
    wallClock,
    monotonic,
    guard: limits.guard,
    limiter: limits.limiter,
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
    onPlan: (next, warnings) => {
      plan = next;
      pools.keepOnly(next);
      report.onAccepted(next.revision, warnings);
    },
  });
  closing.defer(watch.close);

  // Before the public listeners, so that it outlives them: readiness is read while they drain.
  const admin = await openAdmin(settings, telemetry, () => ({
    state,
    store: { kind: settings.store.kind, state: storeUp ? 'up' : 'down' },
    revision: plan.revision,
  }));
  if (admin !== undefined) closing.defer(admin.close);

  const { listeners, https, http } = await openPublicListeners(settings.listeners, certificates, {
    trustedProxies: settings.trustedProxies,
    exchange,
    observer: telemetry.observer,
    forwarder: createForwarder({ exchange, pools }),
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

  return {
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
}

async function openAdmin(
  { listeners: { admin } }: Settings,
  { metrics, logger }: Telemetry,
  readiness: () => Readiness,
): Promise<AdminListener | undefined> {
  if (admin === undefined) return undefined;
  const onError = (error: unknown) => logger.error('an admin page failed', { error });
  return createAdminListener({ address: admin.address, metrics, readiness, onError });
}
