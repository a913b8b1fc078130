// Everything that faces clients, as one: the bounds they share, the ways to a service, the listeners, and the end of it all.
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { Refusal } from '../exchange/directive.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { DrainTimes } from '../plan/bounds.ts';
import type { Address, PlainMode, Settings } from '../plan/settings.ts';
import type { PlaneConnections } from '../plane/connect-target.ts';
import { createForwarding } from '../plane/forwarding.ts';
import type { IdleBound, Intake, Listener } from '../plane/port.ts';
import { createProxyListener, type ProxyListenerOptions } from '../plane/proxy-listener.ts';
import type { MonotonicMs } from '../policy/contract.ts';
import type { BoundsReport } from '../telemetry/reports/bounds-report.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import { createAdmission, createSwitches } from './admission.ts';
import { createClientAddress } from './client-address.ts';
import { createLoadGuard, type LoadGuard, overloaded } from './overload.ts';
import { type CertificateSource, createTlsFace } from './tls-options.ts';

export interface PublicFace {
  /** As bound: a configured port 0 is a real port here. */
  readonly https: { readonly address: Address } | undefined;
  readonly http: { readonly address: Address; readonly mode: PlainMode } | undefined;
  /** Drains as the settings say; false when something had to be cut. `onDraining` runs first. */
  readonly end: (onDraining: () => void) => Promise<boolean>;
}

/** Descriptors of sockets that are bound already, by listener. */
export interface PublicSockets {
  readonly https: number | undefined;
  readonly http: number | undefined;
  /** The service manager keeps the sockets of all public listeners open: connections wait there for the next process. */
  readonly stayOpen: boolean;
}

export interface PublicFacePorts {
  readonly exchange: Exchange;
  readonly upstreams: Upstreams<PlaneConnections>;
  readonly telemetry: Pick<Telemetry, 'observer' | 'metrics' | 'bounds'>;
  readonly monotonic: () => MonotonicMs;
  readonly now: () => number;
  /** Bound already; undefined: the listeners bind their own. */
  readonly sockets: PublicSockets | undefined;
}

/** The TLS listener and the plain one. @throws the system's error when an address cannot be bound; nothing is open then */
export async function openPublicFace(
  settings: Settings,
  certificates: CertificateSource | undefined,
  { exchange, upstreams, telemetry, monotonic, now, sockets }: PublicFacePorts,
): Promise<PublicFace> {
  const { observer, metrics, bounds } = telemetry;
  const { sendsForwarded } = settings;
  const { https, http } = settings.listeners;
  const intake = createIntake({ ...settings, report: bounds, monotonic, now });
  const { idleWebsockets } = intake;
  const forwarding = createForwarding({ ...metrics, ...upstreams, exchange, idleWebsockets });
  const shared = { intake, sendsForwarded, exchange, observer, now, ...forwarding };
  const listeners: Listener[] = [];
  const open = async (
    options: Pick<ProxyListenerOptions, 'address' | 'socket' | 'tls' | 'mode' | 'plane'>,
  ): Promise<Address> => {
    const listener = createProxyListener({ ...shared, ...options });
    const port = await listener.listen();
    listeners.push(listener);
    return { host: options.address.host, port };
  };
  try {
    const tls = certificates && createTlsFace(certificates, now);
    const secure = https && tls && (await open({ ...https, socket: sockets?.https, tls, mode: 'serve' }));
    const plain = http && (await open({ ...http, socket: sockets?.http, tls: undefined }));
    return {
      https: secure && { address: secure },
      http: http && plain && { address: plain, mode: http.mode },
      end: (onDraining) =>
        drain({ listeners, onDraining, stayOpen: sockets?.stayOpen, ...settings.drain }).finally(
          intake.load.stop,
        ),
    };
  } catch (error) {
    intake.load.stop();
    await Promise.all(listeners.map((listener) => listener.stop()));
    throw error;
  }
}

interface DrainOptions extends DrainTimes {
  readonly listeners: readonly Pick<Listener, 'announceEnd' | 'stopAccepting' | 'stop' | 'destroy'>[];
  /** As `PublicSockets.stayOpen`. */
  readonly stayOpen?: boolean | undefined;
  /** Runs first: readiness turns before any listener stops accepting. */
  readonly onDraining: () => void;
}

/** How long an open connection without a request has for one more where no wait comes before its end, milliseconds. */
const LAST_REQUESTS_MS = 1_000;

/**
 * Drains all `listeners` together. While it waits, load balancers that look at readiness send their requests elsewhere; where the
 * sockets stay open, new connections wait for the next process instead.
 * Resolves with false when connections were still open at the end of the time and had to be cut.
 */
export async function drain(options: DrainOptions): Promise<boolean> {
  const { listeners, onDraining, stayOpen, waitMs, timeoutMs } = options;
  onDraining();
  for (const listener of listeners) listener.announceEnd();
  if (stayOpen) for (const listener of listeners) listener.stopAccepting();
  const beforeStopMs = stayOpen ? LAST_REQUESTS_MS : waitMs;
  if (beforeStopMs > 0) await sleep(beforeStopMs);
  // Timers come before reads: what has arrived by now is read first, so that no request is taken for an idle connection.
  await turn();
  let complete = true;
  const limit = setTimeout(() => {
    complete = false;
    for (const listener of listeners) listener.destroy();
  }, timeoutMs);
  await Promise.all(listeners.map((listener) => listener.stop()));
  clearTimeout(limit);
  return complete;
}

interface OpenIntake extends Intake {
  readonly load: LoadGuard;
  /** Undefined: a WebSocket may be quiet for as long as it likes. */
  readonly idleWebsockets: IdleBound | undefined;
}

interface IntakeOptions extends Pick<Settings, 'bounds' | 'overload' | 'trustedProxies'> {
  readonly report: BoundsReport;
  readonly monotonic: () => MonotonicMs;
  readonly now: () => number;
}

/** What the public listeners share: who the client is, and how much of everything all of them together may hold. */
export function createIntake(options: IntakeOptions): OpenIntake {
  const { bounds, overload, trustedProxies, report, monotonic, now } = options;
  const clientAddress = createClientAddress(trustedProxies);
  const { admits, open } = createAdmission({ bounds, clientAddress, report });
  const load = createLoadGuard({ overload, monotonic });
  report.watch({ lagMs: load.lagMs, requests: load.requests, connections: open });
  const refuseForLoad = (): Refusal => overloaded(now());
  const { websocketIdleMs: afterMs } = bounds;
  return {
    bounds,
    clientAddress,
    admits,
    load,
    overloaded: refuseForLoad,
    takeWebsocket: createSwitches({ bounds, report, overloaded: refuseForLoad }),
    idleWebsockets:
      afterMs === undefined ? undefined : { afterMs, onIdle: () => report.refused('websocket_idle') },
    report,
  };
}
