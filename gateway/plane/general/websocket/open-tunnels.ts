// Open WebSockets, which close at a drain, when the version or the token ends, or when idle.
import type { ExpiryCause, TunnelService } from '../../../exchange/tunnel-service.ts';
import type { IdleBound } from '../../port.ts';
import { GOING_AWAY, POLICY_VIOLATION, type Tunnel } from './tunnel.ts';

export interface OpenTunnels {
  readonly add: (service: TunnelService, open: (onClosed: () => void) => Tunnel) => void;
  readonly goAway: () => void;
  readonly services: () => Iterable<TunnelService>;
}

/**
 * Milliseconds between two checks of the open tunnels. A timer for the end would be wrong: reloads and pauses
 * move dates while a connection is open, and the lifecycle clock may have an offset.
 */
const LOOK_EVERY_MS = 1_000;

interface Traffic {
  bytes: number;
  at: number;
}

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
