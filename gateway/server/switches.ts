// How many connections have become WebSockets, in all and of each client, and whether one more may (WS-6).
// Asked by proxy-listener.ts between the decision and the upstream; handshakes under way count too.
import type { Socket } from 'node:net';
import type { Refusal } from '../exchange/directive.ts';
import type { Bounds } from '../plan/bounds.ts';
import type { BoundsReport } from '../telemetry/bounds-report.ts';
import { overloaded } from './overload.ts';

export interface Switches {
  /** Counts `socket` until it closes, unless it is refused. `client`: a consumer or an address. */
  readonly take: (socket: Socket, client: string) => Refusal | undefined;
}

export interface SwitchesPorts {
  readonly bounds: Pick<Bounds, 'websockets' | 'websocketsPerClient'>;
  readonly report: Pick<BoundsReport, 'refused'>;
  /** The real clock, epoch milliseconds. */
  readonly now: () => number;
}

export function createSwitches({ bounds, report, now }: SwitchesPorts): Switches {
  const perClient = new Map<string, number>();
  let open = 0;
  return {
    take(socket, client) {
      if (open >= bounds.websockets) {
        report.refused('websockets');
        return overloaded(now());
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
    },
  };
}
