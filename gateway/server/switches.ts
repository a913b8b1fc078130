// How many connections have become WebSockets, in all and of each client, and whether one more may (WS-6).
// Asked by proxy-listener.ts between the decision and the upstream; handshakes under way count too.
import type { Bounds } from '../plan/bounds.ts';
import type { BoundsCounter, Intake } from '../plane/port.ts';

export interface SwitchesPorts extends Pick<Intake, 'overloaded'> {
  readonly bounds: Pick<Bounds, 'websockets' | 'websocketsPerClient'>;
  readonly report: Pick<BoundsCounter, 'refused'>;
}

export function createSwitches({ bounds, report, overloaded }: SwitchesPorts): Intake['takeWebsocket'] {
  const perClient = new Map<string, number>();
  let open = 0;
  return (socket, client) => {
    if (open >= bounds.websockets) {
      report.refused('websockets');
      return overloaded();
    }
    const before = perClient.get(client) ?? 0;
    if (before >= bounds.websocketsPerClient) {
      report.refused('websockets_per_client');
      return { reason: 'websockets_exhausted' };
    }
    open += 1;
    perClient.set(client, before + 1);
    socket.once('close', () => {
      open -= 1;
      const left = (perClient.get(client) ?? 1) - 1;
      if (left === 0) perClient.delete(client);
      else perClient.set(client, left);
    });
    return undefined;
  };
}
