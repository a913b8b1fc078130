// The fast plane of a listener: plain HTTP/1.1 on sockets, without Node's request and response objects.
import type { Socket } from 'node:net';
import { createDateText } from '../answer-text.ts';
import { createOpenList } from '../slow-clients.ts';
import { FastConnection } from './fast-connection.ts';
import { createFastLife } from './fast-life.ts';
import type { ConnectionEnds, FastPorts } from './fast-ports.ts';
import { createHeadReader } from './request-head.ts';

export interface FastPlane {
  /** Takes over an open connection. */
  readonly take: (socket: Socket, toNode: Omit<ConnectionEnds, 'onLeft'>) => void;
  /** Whether a request on the connection awaits its response. */
  readonly isBusy: (socket: Socket) => boolean;
  /** Closes connections without a request. */
  readonly endIdle: () => void;
  readonly stop: () => void;
}

/** Milliseconds: the maximum delay after a deadline. */
const SLOWEST_SWEEP_MS = 500;
const FASTEST_SWEEP_MS = 20;
const SWEEPS_A_HEAD = 8;

export function createFastPlane(options: Omit<FastPorts, 'date' | 'readHead'>): FastPlane {
  const { bounds, report } = options.limits;
  const ports = { ...options, readHead: createHeadReader(bounds), date: createDateText(options.now) };
  const { headersMs } = bounds;
  const life = createFastLife(ports);
  const open = createOpenList<FastConnection>();
  const bySocket = new Map<Socket, FastConnection>();
  const sweepMs = Math.max(FASTEST_SWEEP_MS, Math.min(SLOWEST_SWEEP_MS, headersMs / SWEEPS_A_HEAD));
  const sweep = setInterval(() => {
    const now = performance.now();
    open.sweep((connection) => connection.look(now));
  }, sweepMs).unref();

  return {
    take(socket, toNode) {
      const connection = new FastConnection(socket, ports, life, {
        ...toNode,
        onLeft() {
          report.connected('fast', -1);
          open.remove(connection);
          bySocket.delete(socket);
        },
      });
      report.connected('fast', 1);
      open.add(connection);
      bySocket.set(socket, connection);
    },
    isBusy: (socket) => bySocket.get(socket)?.isBusy === true,
    endIdle: () => open.sweep((connection) => connection.endIdle()),
    stop() {
      clearInterval(sweep);
      life.stop();
    },
  };
}
