// The WebSockets that are open, and the two occasions on which the gateway ends them: a drain, and the end of their version.
// Kept by websocket.ts; read by a gauge.
import type { HeldService } from '../exchange/held-service.ts';
import type { Tunnel } from './tunnel.ts';

export interface OpenTunnels {
  /** Keeps what `open` makes until it calls back. */
  readonly add: (service: HeldService, open: (onClosed: () => void) => Tunnel) => void;
  /** Ends all, and from now on each new one as soon as it is open. */
  readonly goAway: () => void;
  /** One entry for each. */
  readonly services: () => Iterable<HeldService>;
}

/**
 * How often the open ones are looked at, milliseconds. A look at the clock instead of a timer to the day: dates move
 * while a connection is open, by reloads and pauses, and the clock may be a moved one.
 */
const LOOK_EVERY_MS = 1_000;

export function createOpenTunnels(isOver: (service: HeldService) => boolean): OpenTunnels {
  const tunnels = new Map<Tunnel, HeldService>();
  let goingAway = false;
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    for (const [tunnel, service] of tunnels) if (isOver(service)) tunnel.goAway();
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
      if (goingAway) tunnel.goAway();
    },
    goAway() {
      goingAway = true;
      for (const tunnel of tunnels.keys()) tunnel.goAway();
    },
    services: () => tunnels.values(),
  };
}
