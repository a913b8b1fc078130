// Whether one more client connection is taken: how many there are, and how many come from its address.
// One for all public listeners; the admin listener never asks it.
import type { Socket } from 'node:net';
import type { Bounds } from '../plan/bounds.ts';
import type { BoundsReport } from '../telemetry/bounds-report.ts';
import type { ClientAddressOf } from './client-address.ts';

export interface Admission {
  /**
   * False: the connection must be closed before anything is read from it. A load balancer takes that for a connection
   * that failed and asks another gateway; an answer would have to wait for a TLS handshake, and would be passed on.
   */
  readonly admits: (socket: Socket) => boolean;
  /** Connections taken and not closed yet. */
  readonly open: () => number;
}

export interface AdmissionPorts {
  readonly bounds: Pick<Bounds, 'connections' | 'connectionsPerAddress'>;
  /** A trusted proxy stands for many clients: it counts towards the whole only. */
  readonly clientAddress: ClientAddressOf;
  readonly report: Pick<BoundsReport, 'refused'>;
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
