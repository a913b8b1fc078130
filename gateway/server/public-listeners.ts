// Opens and drains the public listeners, with the limits and the forwarding that they share.
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { Refusal } from '../exchange/directive.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { DrainTimes } from '../plan/bounds.ts';
import type { Address, PlainMode, Settings } from '../plan/settings.ts';
import type { PlaneConnections } from '../plane/connect-target.ts';
import { createForwarding } from '../plane/forwarding.ts';
import type { IdleBound, Listener, ListenerLimits } from '../plane/port.ts';
import { createProxyListener, type ProxyListenerOptions } from '../plane/proxy-listener.ts';
import type { MonotonicMs } from '../policy/contract.ts';
import type { BoundsReport } from '../telemetry/reports/bounds-report.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import { createAdmission, createWebSocketAdmission } from './admission.ts';
import { createClientAddress } from './client-address.ts';
import { createLoadGuard, type LoadGuard, overloaded } from './overload.ts';
import { type CertificateSource, createTlsTermination } from './tls-options.ts';

export interface PublicListeners {
  /** As bound: a configured port 0 is a real port here. */
  readonly https: { readonly address: Address } | undefined;
  readonly http: { readonly address: Address; readonly mode: PlainMode } | undefined;
  /** Drains as configured. False if connections had to be cut. `onDraining` runs first. */
  readonly end: (onDraining: () => void) => Promise<boolean>;
}

export interface PublicSockets {
  readonly https: number | undefined;
  readonly http: number | undefined;
  /** The service manager keeps all public sockets open, so connections wait there for the next process. */
  readonly stayOpen: boolean;
}

export interface PublicListenersPorts {
  readonly exchange: Exchange;
  readonly upstreams: Upstreams<PlaneConnections>;
  readonly telemetry: Pick<Telemetry, 'observer' | 'metrics' | 'bounds'>;
  readonly monotonic: () => MonotonicMs;
  readonly now: () => number;
  /** Undefined: the listeners bind their own sockets. */
  readonly sockets: PublicSockets | undefined;
}

/** @throws the system's error if an address cannot be bound; no listener is open then */
export async function openPublicListeners(
  settings: Settings,
  certificates: CertificateSource | undefined,
  { exchange, upstreams, telemetry, monotonic, now, sockets }: PublicListenersPorts,
): Promise<PublicListeners> {
  const { observer, metrics, bounds } = telemetry;
  const { sendsForwarded } = settings;
  const { https, http } = settings.listeners;
  const limits = createListenerLimits({ ...settings, report: bounds, monotonic, now });
  const { idleWebsockets } = limits;
  const forwarding = createForwarding({ ...metrics, ...upstreams, exchange, idleWebsockets });
  const shared = { limits, sendsForwarded, exchange, observer, now, ...forwarding };
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
    const tls = certificates && createTlsTermination(certificates, now);
    const secure = https && tls && (await open({ ...https, socket: sockets?.https, tls, mode: 'serve' }));
    const plain = http && (await open({ ...http, socket: sockets?.http, tls: undefined }));
    return {
      https: secure && { address: secure },
      http: http && plain && { address: plain, mode: http.mode },
      end: (onDraining) =>
        drain({ listeners, onDraining, stayOpen: sockets?.stayOpen, ...settings.drain }).finally(
          limits.load.stop,
        ),
    };
  } catch (error) {
    limits.load.stop();
    await Promise.all(listeners.map((listener) => listener.stop()));
    throw error;
  }
}

interface DrainOptions extends DrainTimes {
  readonly listeners: readonly Pick<Listener, 'announceEnd' | 'stopAccepting' | 'stop' | 'destroy'>[];
  readonly stayOpen?: boolean | undefined;
  /** Runs first, so that readiness fails before any listener stops accepting. */
  readonly onDraining: () => void;
}

/** Milliseconds for more requests on idle connections if there is no other wait. */
const LAST_REQUESTS_MS = 1_000;

/**
 * During the wait, load balancers notice the failed readiness and use other gateways. With `stayOpen`, new connections
 * wait for the next process. Resolves with false if connections were cut at the end of the time.
 */
export async function drain(options: DrainOptions): Promise<boolean> {
  const { listeners, onDraining, stayOpen, waitMs, timeoutMs } = options;
  onDraining();
  for (const listener of listeners) listener.announceEnd();
  if (stayOpen) for (const listener of listeners) listener.stopAccepting();
  const beforeStopMs = stayOpen ? LAST_REQUESTS_MS : waitMs;
  if (beforeStopMs > 0) await sleep(beforeStopMs);
  // Timers run before reads. This turn reads what has arrived, so that a connection with a request does not count as
  // idle.
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

interface OpenListenerLimits extends ListenerLimits {
  readonly load: LoadGuard;
  /** Undefined: no idle limit for WebSockets. */
  readonly idleWebsockets: IdleBound | undefined;
}

interface ListenerLimitsOptions extends Pick<Settings, 'bounds' | 'overload' | 'trustedProxies'> {
  readonly report: BoundsReport;
  readonly monotonic: () => MonotonicMs;
  readonly now: () => number;
}

/** What the public listeners share: client addresses, and limits for all of them together. */
export function createListenerLimits(options: ListenerLimitsOptions): OpenListenerLimits {
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
    takeWebsocket: createWebSocketAdmission({ bounds, report, overloaded: refuseForLoad }),
    idleWebsockets:
      afterMs === undefined ? undefined : { afterMs, onIdle: () => report.refused('websocket_idle') },
    report,
  };
}
