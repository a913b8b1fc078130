// The composition root: the only file that knows every part. Puts a gateway together from its documents and takes it apart.
// Reads the clocks that everything else is given.
import { X509Certificate } from 'node:crypto';
import { createAdminListener } from './admin/admin-listener.ts';
import type { Readiness } from './admin/readiness.ts';
import type { GatewayFacts } from './cli/banner.ts';
import { createExchange, type Exchange } from './exchange/exchange.ts';
import { createForwarder } from './forward/forwarder.ts';
import { createPools } from './forward/pools.ts';
import { createTokenVerifier, type IdentityVerifier } from './identity/verifier.ts';
import { loadAll } from './plan/load.ts';
import type { GatewayPlan } from './plan/plan.ts';
import type { Problem } from './plan/problems.ts';
import { watchPolicies } from './plan/reload.ts';
import type { Settings } from './plan/settings.ts';
import type { EpochMs } from './policy/contract.ts';
import { type Certificates, loadCertificates } from './server/certificates.ts';
import { drain } from './server/drain.ts';
import { createProxyListener, type ProxyListener } from './server/proxy-listener.ts';
import { openRateLimits } from './stores/open-rate-limits.ts';
import type { LogDestination } from './telemetry/log-sink.ts';
import { createTelemetry, type Telemetry } from './telemetry/telemetry.ts';

export interface GatewayOptions {
  /** Path of `gateway.yaml`. */
  readonly configFile: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The lifecycle clock; undefined: the real time. Tokens, TLS and limits always use the real time. */
  readonly lifecycleClock?: LifecycleClock;
  readonly log: LogDestination;
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
  /** Stops accepting, finishes what runs within `DRAIN_MS`, lets go of everything. */
  readonly close: () => Promise<void>;
}

export type Started =
  | { readonly kind: 'running'; readonly gateway: Gateway; readonly warnings: readonly Problem[] }
  | { readonly kind: 'rejected'; readonly problems: readonly Problem[] };

/** Milliseconds that requests in flight are given at the end. */
export const DRAIN_MS = 30_000;

/** Connections to one target. */
const UPSTREAM_CONNECTIONS = 256;

/** A lifecycle clock that shows `at` now and runs at the speed of the real one. */
export function movedClock(at: EpochMs, description: string): LifecycleClock {
  const offset = at - Date.now();
  return { now: () => Date.now() + offset, description };
}

/**
 * Starts a gateway: documents, store, certificate, listeners, in this order, so that nothing listens before all is well.
 * Problems in the documents are a result; whatever else keeps it from starting is thrown, with everything let go.
 */
export async function startGateway(options: GatewayOptions): Promise<Started> {
  const wallClock = Date.now;
  const now = options.lifecycleClock?.now ?? wallClock;
  const monotonic = () => performance.now();
  const loaded = await loadAll({ ...options, now: now() });
  const { settings, problems } = loaded;
  if (settings === undefined || loaded.plan === undefined) return { kind: 'rejected', problems };

  const closing = new AsyncDisposableStack();
  try {
    const gateway = await assemble(options, settings, loaded.plan, { wallClock, now, monotonic }, closing);
    return { kind: 'running', gateway, warnings: problems };
  } catch (error) {
    await closing.disposeAsync();
    throw error;
  }
}

interface Clocks {
  readonly wallClock: () => EpochMs;
  readonly now: () => EpochMs;
  readonly monotonic: () => number;
}

async function assemble(
  options: GatewayOptions,
  settings: Settings,
  firstPlan: GatewayPlan,
  clocks: Clocks,
  closing: AsyncDisposableStack,
): Promise<Gateway> {
  const { wallClock, now, monotonic } = clocks;
  let plan = firstPlan;
  let state: Readiness['state'] = 'starting';
  let storeUp = false;

  const telemetry = createTelemetry({
    plan: () => plan,
    now,
    wallClock,
    monotonic,
    log: { destination: options.log, level: 'info', requests: true },
  });
  closing.defer(telemetry.close);
  const { logger, metrics } = telemetry;

  const limits = await openRateLimits({
    store: settings.store,
    replicas: settings.replicas,
    monotonic,
    onState: (up) => {
      storeUp = up;
      metrics.storeUp(settings.store.kind, up);
      if (up) logger.info('the store answers', { store: settings.store.kind });
      else logger.warn('the store is away; limits fall back', { store: settings.store.kind });
    },
  });
  closing.defer(limits.close);

  const certificates = await readCertificates(settings, wallClock(), telemetry);
  const verifiers = new Map<string, IdentityVerifier>();
  for (const identity of settings.identities) {
    const verifier = createTokenVerifier(identity, { now: wallClock });
    closing.defer(verifier.close);
    verifiers.set(identity.name, verifier);
  }

  const exchange = createExchange({
    plan: () => plan,
    now,
    wallClock,
    monotonic,
    guard: limits.guard,
    limiter: limits.limiter,
    verifiers,
    hstsSeconds: settings.listeners.https?.hstsSeconds,
    onFault: (fault, facts) =>
      logger.error('a request failed', { request_id: facts.requestId, fault: fault.code, error: fault }),
  });
  const pools = createPools({ connections: UPSTREAM_CONNECTIONS });
  closing.defer(pools.close);
  pools.keepOnly(plan);

  const watch = watchPolicies({
    ...options,
    settings,
    revision: plan.revision,
    now,
    onPlan: (next) => {
      plan = next;
      pools.keepOnly(next);
      metrics.reload('success');
      logger.info('policies reloaded', { revision: next.revision });
    },
    onRejected: (problems) => {
      metrics.reload('failure');
      for (const { file, line, column, message } of problems) {
        logger.error(`policies not reloaded: ${message}`, { file, line, column });
      }
    },
    onUnchanged: () => metrics.reload('success'),
    onRestartNeeded: () => logger.warn('the gateway file changed; restart to apply it'),
    onFault: (error) => {
      metrics.reload('failure');
      logger.error('policies not reloaded', { error });
    },
  });
  closing.defer(watch.close);

  const { listeners, bound } = await openListeners(settings, certificates, exchange, telemetry, pools);
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

  const adminAddress = settings.listeners.admin?.address;
  let admin: GatewayFacts['listeners']['admin'];
  if (adminAddress !== undefined) {
    const listener = await createAdminListener({
      address: adminAddress,
      metrics,
      readiness: () => ({
        state,
        store: { kind: settings.store.kind, state: storeUp ? 'up' : 'down' },
        revision: plan.revision,
      }),
      onError: (error) => logger.error('an admin page failed', { error }),
    });
    closing.defer(listener.close);
    admin = { address: { host: adminAddress.host, port: listener.address.port } };
  }
  for (const verifier of verifiers.values()) void verifier.warm();
  state = 'ready';
  logger.info('started', { revision: plan.revision, store: settings.store.kind });

  return {
    facts: {
      listeners: { ...bound, admin },
      store: settings.store,
      fingerprint: certificates?.fingerprint,
      lifecycleClock: options.lifecycleClock?.description,
    },
    logger,
    reload: watch.reload,
    close: () => closing.disposeAsync(),
  };
}

async function readCertificates(
  settings: Settings,
  now: EpochMs,
  { metrics }: Telemetry,
): Promise<Certificates | undefined> {
  const { https } = settings.listeners;
  if (https === undefined) return undefined;
  const publicHost = new URL(settings.public).hostname;
  const certificates = await loadCertificates(https, { dataFolder: settings.dataFolder, publicHost, now });
  for (const { names, cert } of certificates.pairs) {
    const expiry = new X509Certificate(cert).validToDate.getTime();
    for (const name of names) metrics.certificate(name, expiry);
  }
  return certificates;
}

async function openListeners(
  settings: Settings,
  certificates: Certificates | undefined,
  exchange: Exchange,
  { observer }: Telemetry,
  pools: ReturnType<typeof createPools>,
): Promise<{ listeners: readonly ProxyListener[]; bound: Omit<GatewayFacts['listeners'], 'admin'> }> {
  const { https, http } = settings.listeners;
  const shared = {
    trustedProxies: settings.trustedProxies,
    exchange,
    observer,
    forwarder: createForwarder({ exchange, pools }),
    now: Date.now,
  };
  const listeners: ProxyListener[] = [];
  try {
    const open = async (listener: ProxyListener): Promise<number> => {
      const port = await listener.listen();
      listeners.push(listener);
      return port;
    };
    const httpsPort =
      https &&
      certificates &&
      (await open(createProxyListener({ ...shared, address: https.address, certificates, mode: 'serve' })));
    const httpPort =
      http && (await open(createProxyListener({ ...shared, address: http.address, mode: http.mode })));
    return {
      listeners,
      bound: {
        https:
          https && httpsPort !== undefined
            ? { address: { host: https.address.host, port: httpsPort } }
            : undefined,
        http:
          http && httpPort !== undefined
            ? { address: { host: http.address.host, port: httpPort }, mode: http.mode }
            : undefined,
      },
    };
  } catch (error) {
    await Promise.all(listeners.map((listener) => listener.stop()));
    throw error;
  }
}
