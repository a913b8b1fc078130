// The fast plane's connection pool for one target. The most recently used connection is reused first.

import { Fault } from '../../exchange/directive.ts';
import type { UpstreamPlan } from '../../plan/plan.ts';
import type { TargetConnections, TargetPorts } from '../../upstream/call.ts';
import type { Deadline, StartDeadline } from '../../upstream/deadlines.ts';
import { hostNameOf } from '../../upstream/name-lookup.ts';
import { targetOptions } from '../target-options.ts';
import { DirectCall } from './direct-call.ts';
import { type ConnectionEvents, type TargetPlace, UpstreamConnection } from './upstream-connection.ts';

/** Less than the 5 s of many servers, so that the gateway closes idle connections first. */
export const IDLE_MS = 4_000;

/**
 * Idle connections of one target. A connection is reused only after a full event loop turn: the FIN of an upstream may follow
 * its response directly.
 */
class Idle {
  readonly #rested: UpstreamConnection[] = [];
  /** Free since the previous turn. `#fresh`: since this turn. */
  #resting: UpstreamConnection[] = [];
  #fresh: UpstreamConnection[] = [];
  readonly #startDeadline: StartDeadline;
  #sweep: Deadline | undefined;

  constructor(startDeadline: StartDeadline) {
    this.#startDeadline = startDeadline;
  }

  add(connection: UpstreamConnection): void {
    if (this.#fresh.length === 0 && this.#resting.length === 0) setImmediate(this.#rest);
    this.#fresh.push(connection);
  }

  /** The most recently used connection. A request that must not be repeated gets none that may have closed meanwhile. */
  take(isRepeatable: boolean): UpstreamConnection | undefined {
    const rested = this.#rested.pop();
    if (rested === undefined || isRepeatable || performance.now() - rested.readAt <= IDLE_MS) return rested;
    rested.destroy();
    return undefined;
  }

  remove(connection: UpstreamConnection): void {
    for (const list of [this.#rested, this.#resting, this.#fresh]) {
      const at = list.lastIndexOf(connection);
      if (at >= 0) list.splice(at, 1);
    }
  }

  all(): readonly UpstreamConnection[] {
    return [...this.#rested, ...this.#resting, ...this.#fresh];
  }

  readonly #rest = (): void => {
    this.#rested.push(...this.#resting);
    this.#resting = this.#fresh;
    this.#fresh = [];
    if (this.#resting.length > 0) setImmediate(this.#rest);
    if (this.#rested.length > 0) this.#sweep ??= this.#startDeadline(IDLE_MS, this.#endOld);
  };

  readonly #endOld = (): void => {
    const now = performance.now();
    for (const one of this.#rested.filter(({ readAt }) => now - readAt >= IDLE_MS)) one.destroy();
    const [oldest] = this.#rested;
    this.#sweep = oldest && this.#startDeadline(Math.max(1, IDLE_MS - (now - oldest.readAt)), this.#endOld);
  };
}

export function connectDirectly(
  origin: string,
  upstream: UpstreamPlan,
  ports: TargetPorts,
): Pick<TargetConnections, 'call' | 'follow' | 'retire' | 'destroy'> {
  const { startDeadline, names } = ports;
  const { name: service, timeouts } = upstream;
  const hostName = hostNameOf(origin);
  const place = placeOf(origin, upstream, ports);
  const open = new Set<UpstreamConnection>();
  const idle = new Idle(startDeadline);
  /** Connections to former addresses of the name. They close after their call. */
  const leaving = new WeakSet<UpstreamConnection>();
  let isRetired = false;

  const events: ConnectionEvents = {
    onFree(connection) {
      if (isRetired || leaving.has(connection)) connection.destroy();
      else idle.add(connection);
    },
    onUnwritten: (call) => openOne(true).use(call),
    onLost(connection, wasOpen) {
      open.delete(connection);
      idle.remove(connection);
      if (!wasOpen && hostName !== undefined) names.invalidate(hostName);
    },
  };

  function openOne(isSingle: boolean): UpstreamConnection {
    const connection = new UpstreamConnection(place, isSingle, events);
    open.add(connection);
    const patience = startDeadline(timeouts.connect, () =>
      connection.break(new Fault('upstream_connect_timeout', { service, timeoutMs: timeouts.connect })),
    );
    connection.onceOpen = () => patience.stop();
    return connection;
  }

  return {
    call(options) {
      const call = new DirectCall(options, startDeadline);
      const connection = options.fresh || isRetired ? undefined : idle.take(call.isRepeatable);
      (connection ?? openOne(options.fresh || isRetired)).use(call);
      return () => call.giveUp();
    },
    follow(addresses) {
      for (const connection of open) {
        const { remoteAddress } = connection.socket;
        if (remoteAddress !== undefined && !addresses.has(remoteAddress)) leaving.add(connection);
      }
      for (const connection of idle.all()) if (leaving.has(connection)) connection.destroy();
    },
    retire() {
      isRetired = true;
      for (const connection of idle.all()) connection.destroy();
    },
    async destroy() {
      isRetired = true;
      const closing = Object.assign(new Error('the gateway is closing'), { code: 'ECONNRESET' });
      for (const connection of [...open]) connection.break(closing);
    },
  };
}

const PORTS = { 'http:': 80, 'https:': 443 } as const;

function placeOf(origin: string, upstream: UpstreamPlan, ports: TargetPorts): TargetPlace {
  const { protocol, hostname, port, host } = new URL(origin);
  const isSecure = protocol === 'https:';
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? PORTS[isSecure ? 'https:' : 'http:'] : Number(port),
    isSecure,
    authority: host,
    options: targetOptions(origin, upstream, ports),
  };
}
