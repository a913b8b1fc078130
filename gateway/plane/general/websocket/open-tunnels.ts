// Open WebSockets, and when the gateway ends them: at a drain, with the version or the token, and when idle.
import type { ExpiryCause, TunnelService } from '../../../exchange/tunnel-service.ts';
import type { IdleBound } from '../../port.ts';
import { GOING_AWAY, POLICY_VIOLATION, type Tunnel } from './tunnel.ts';

export interface OpenTunnels {
  /** Keeps what `open` makes until it calls back. */
  readonly add: (service: TunnelService, open: (onClosed: () => void) => Tunnel) => void;
  /** Ends all, and from now on each new one as soon as it is open. */
  readonly goAway: () => void;
  readonly services: () => Iterable<TunnelService>;
}

/**
 * How often the open ones are looked at, milliseconds. A look at the clock instead of a timer to the day: dates move
 * while a connection is open, by reloads and pauses, and the clock may be a moved one.
 */
const LOOK_EVERY_MS = 1_000;

/** What an open one carried until it was last seen to carry more. */
interface Traffic {
  bytes: number;
  at: number;
}

/** Without `idle` a WebSocket may be quiet for as long as both sides like. */
export function createOpenTunnels(
  endingOf: (service: TunnelService) => ExpiryCause | undefined,
  idle: IdleBound | undefined,
): OpenTunnels {
  const tunnels = new Map<Tunnel, TunnelService>();
  const traffic = new WeakMap<Tunnel, Traffic>();
  let goingAway = false;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    for (const [tunnel, service] of tunnels) {
      const ending = endingOf(service);
      if (ending !== undefined) tunnel.close(ending === 'token' ? POLICY_VIOLATION : GOING_AWAY);
      else if (idle !== undefined && isQuiet(tunnel, idle)) tunnel.close(GOING_AWAY);
    }
  }

  function isQuiet(tunnel: Tunnel, { afterMs, onIdle }: IdleBound): boolean {
    const now = performance.now();
    const bytes = tunnel.bytes();
    const last = traffic.get(tunnel);
    if (last === undefined || last.bytes !== bytes) traffic.set(tunnel, { bytes, at: now });
    else if (now - last.at >= afterMs) {
      traffic.delete(tunnel);
      onIdle();
      return true;
    }
    return false;
  }

  return {
    add(service, open) {
      const tunnel = open(() => {
        tunnels.delete(tunnel);
        if (tunnels.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      });
      tunnels.set(tunnel, service);
      timer ??= setInterval(look, LOOK_EVERY_MS).unref();
      if (goingAway) tunnel.close(GOING_AWAY);
    },
    goAway() {
      goingAway = true;
      for (const tunnel of tunnels.keys()) tunnel.close(GOING_AWAY);
    },
    services: () => tunnels.values(),
  };
}
