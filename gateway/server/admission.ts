// Limits on client connections and WebSockets, in total and per client (WS-6).
import type { Bounds } from '../plan/bounds.ts';
import type { BoundsCounter, ListenerLimits } from '../plane/port.ts';

export interface Admission {
  /** False: close the connection, so that a load balancer tries another gateway. It would forward an error response. */
  readonly admits: ListenerLimits['admits'];
  readonly open: () => number;
}

export interface AdmissionPorts {
  readonly bounds: Pick<Bounds, 'connections' | 'connectionsPerAddress'>;
  /** A trusted proxy serves many clients, so its connections count only towards the total. */
  readonly clientAddress: ListenerLimits['clientAddress'];
  readonly report: Pick<BoundsCounter, 'refused'>;
}

export function createAdmission({ bounds, clientAddress, report }: AdmissionPorts): Admission {
  const perAddress = new Map<string, number>();
  let open = 0;

  return {
    admits(socket) {
      if (open >= bounds.connections) {
        report.refused('connections');
        return false;
      }
      const { key, viaTrusted } = clientAddress(socket.remoteAddress ?? '', undefined);
      const before = viaTrusted ? 0 : (perAddress.get(key) ?? 0);
      if (before >= bounds.connectionsPerAddress) {
        report.refused('connections_per_address');
        return false;
      }
      open += 1;
      if (!viaTrusted) perAddress.set(key, before + 1);
      socket.once('close', () => {
        open -= 1;
        if (viaTrusted) return;
        const left = (perAddress.get(key) ?? 1) - 1;
        if (left === 0) perAddress.delete(key);
        else perAddress.set(key, left);
      });
      return true;
    },
    open: () => open,
  };
}

interface WebSocketAdmissionPorts extends Pick<ListenerLimits, 'overloaded'> {
  readonly bounds: Pick<Bounds, 'websockets' | 'websocketsPerClient'>;
  readonly report: Pick<BoundsCounter, 'refused'>;
}

export function createWebSocketAdmission({
  bounds,
  report,
  overloaded,
}: WebSocketAdmissionPorts): ListenerLimits['takeWebsocket'] {
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
