// What answers requests: verifiers, exchange, connections to upstreams, public listeners. Part of the composition root.
// The same in the only process (gateway.ts) and in every worker (worker.ts).
import { createExchange } from './exchange/exchange.ts';
import type { ExchangePorts } from './exchange/ports.ts';
import { createForwarding } from './forward/forwarding.ts';
import { createPools } from './forward/pools.ts';
import { openVerifiers } from './identity/verifiers.ts';
import type { GatewayPlan } from './plan/plan.ts';
import type { Settings } from './plan/settings.ts';
import type { EpochMs } from './policy/contract.ts';
import type { Certificates } from './server/certificates.ts';
import { DRAIN_MS, drain } from './server/drain.ts';
import { openPublicListeners, type PublicListeners } from './server/public-listeners.ts';
import type { BoundListeners, PlanDocuments } from './server/workers/protocol.ts';
import { createDependencyReport } from './telemetry/dependency-report.ts';
import { createFaultReport } from './telemetry/fault-report.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

export interface ServiceOptions
  extends Pick<ExchangePorts, 'plan' | 'now' | 'guard' | 'limiter' | 'pins' | 'overrides'> {
  readonly settings: Settings;
  readonly certificates: Certificates | undefined;
  readonly telemetry: Pick<Telemetry, 'observer' | 'logger' | 'metrics'>;
  readonly wallClock: () => EpochMs;
  readonly monotonic: () => number;
}

export interface Service {
  /** Resolves when connections are accepted. Rejects with the system's error when an address cannot be bound. */
  readonly listen: () => Promise<BoundListeners>;
  /** For a plan that comes into force: what it needs no more is let go. */
  readonly use: (plan: GatewayPlan, documents: PlanDocuments) => Promise<void> | void;
  /** Processes that answer requests now. */
  readonly serving: () => number;
  /** Accepts nothing new and finishes what runs; false when something had to be cut. */
  readonly drain: () => Promise<boolean>;
  /** To be called after the drain. */
  readonly close: () => Promise<void>;
}

/** Connections to one target. */
const UPSTREAM_CONNECTIONS = 256;

export function createService(options: ServiceOptions): Service {
  const { settings, telemetry, certificates, wallClock } = options;
  const { logger, metrics } = telemetry;
  const { onKeys } = createDependencyReport(telemetry);
  const verifiers = openVerifiers(settings.identities, { now: wallClock, onKeys });
  const exchange = createExchange({
    ...options,
    verifiers,
    hstsSeconds: settings.listeners.https?.hstsSeconds,
    onFault: createFaultReport(logger),
  });
  const pools = createPools({ connections: UPSTREAM_CONNECTIONS });
  pools.keepOnly(options.plan());
  let open: PublicListeners | undefined;
  return {
    listen: async () => {
      open = await openPublicListeners(settings.listeners, certificates, {
        trustedProxies: settings.trustedProxies,
        exchange,
        observer: telemetry.observer,
        ...createForwarding({ ...metrics, exchange, pools }),
        now: wallClock,
      });
      for (const verifier of verifiers.values()) void verifier.warm();
      return { https: open.https, http: open.http };
    },
    use: pools.keepOnly,
    serving: () => 1,
    drain: async () => {
      const finished = await drain({
        listeners: open?.listeners ?? [],
        onDraining: () => undefined,
        timeoutMs: DRAIN_MS,
      });
      if (!finished) logger.warn('requests were cut at the end of the drain');
      return finished;
    },
    close: async () => {
      await pools.close();
      for (const verifier of verifiers.values()) verifier.close();
    },
  };
}
