// Assembles what serves requests: authenticators, exchange, upstreams and public listeners.
import { createExchange } from './exchange/exchange.ts';
import type { ExchangePorts } from './exchange/ports.ts';
import { openAuthenticators } from './identity/authenticators.ts';
import type { GatewayPlan } from './plan/plan.ts';
import type { Settings } from './plan/settings.ts';
import { connectForPlanes } from './plane/connect-target.ts';
import type { KeyLookup } from './policy/authentication/key-record.ts';
import type { EpochMs, MonotonicMs } from './policy/contract.ts';
import { openPublicListeners, type PublicListeners, type PublicSockets } from './server/public-listeners.ts';
import type { CertificateSource } from './server/tls-options.ts';
import type { BoundListeners } from './server/workers/protocol.ts';
import { type AdoptionRecords, createAdoption, WITHOUT_LEDGER } from './stores/adoption.ts';
import { atOnce, inSlices } from './system/time-slices.ts';
import { createDependencyReport, createFaultReport } from './telemetry/reports/dependency-report.ts';
import { createFreezeReport } from './telemetry/reports/freeze-counts.ts';
import { createTargetReport } from './telemetry/reports/target-metrics.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import { openUpstreams } from './upstream/upstreams.ts';

export interface ServiceOptions
  extends Pick<ExchangePorts, 'plan' | 'now' | 'guard' | 'limiter' | 'pins' | 'idempotency' | 'overrides'> {
  readonly settings: Settings;
  readonly keys: KeyLookup;
  /** Queried only if usage is recorded. */
  readonly ledger: AdoptionRecords & NonNullable<ExchangePorts['ledger']>;
  readonly certificates: CertificateSource | undefined;
  readonly telemetry: Pick<Telemetry, 'observer' | 'beginTrace' | 'logger' | 'metrics' | 'bounds'>;
  readonly wallClock: () => EpochMs;
  readonly monotonic: () => MonotonicMs;
  readonly sockets: PublicSockets | undefined;
}

export interface Service {
  /** Resolves when connections are accepted. Rejects with the system's error if an address cannot be bound. */
  readonly listen: () => Promise<BoundListeners>;
  /** Applies one plan at a time. Resolves when resources that it no longer needs are released. */
  readonly use: (plan: GatewayPlan) => Promise<void>;
  /** Number of processes that serve requests. */
  readonly serving: () => number;
  /** Stops accepting and finishes running requests. False if connections had to be cut. */
  readonly drain: () => Promise<boolean>;
  /** Call it after the drain. */
  readonly close: () => Promise<void>;
}

export function createService(options: ServiceOptions): Service {
  const { settings, telemetry, certificates, wallClock, monotonic, sockets } = options;
  const { logger, metrics } = telemetry;
  const closing = new AsyncDisposableStack();
  const { onKeys, onIntrospection } = createDependencyReport(telemetry);
  const authenticators = openAuthenticators(settings.identities, {
    now: wallClock,
    onKeys,
    onIntrospection,
    keys: options.keys,
  });
  closing.defer(async () => authenticators.close());

  const exchange = createExchange({
    ...options,
    authenticators: authenticators.byName,
    beginTrace: telemetry.beginTrace,
    adoption: createAdoption(settings.ledger === undefined ? WITHOUT_LEDGER : options.ledger, {
      now: monotonic,
      onUnjudged: createFreezeReport(telemetry, options.plan),
    }),
    ledger: settings.ledger && options.ledger,
    hstsSeconds: settings.listeners.https?.hstsSeconds,
    onFault: createFaultReport(logger),
  });
  const upstreams = openUpstreams({ connect: connectForPlanes, onChange: createTargetReport(telemetry) });
  closing.defer(upstreams.close);
  atOnce(upstreams.keepSteps(options.plan()));
  metrics.watchTargets(upstreams.targets.states);

  let open: PublicListeners | undefined;
  return {
    listen: async () => {
      const ports = { exchange, upstreams, telemetry, monotonic, now: wallClock, sockets };
      open = await openPublicListeners(settings, certificates, ports);
      authenticators.warm();
      return { https: open.https, http: open.http };
    },
    use: (plan) => inSlices(upstreams.keepSteps(plan)),
    serving: () => 1,
    drain: async () => {
      const finished = (await open?.end(() => undefined)) ?? true;
      if (!finished) logger.warn('the drain timed out: open requests were closed');
      return finished;
    },
    close: () => closing.disposeAsync(),
  };
}
