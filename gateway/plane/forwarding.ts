// Creates the forwarders of both planes and the WebSocket proxy, which share the upstream targets.
import type { ForwardPorts } from '../upstream/attempts.ts';
import { MAX_HELD } from '../upstream/bodies/held-body.ts';
import { MAX_AWAITED } from '../upstream/bodies/measured-body.ts';
import type { Pools } from '../upstream/upstreams.ts';
import { directPools, type PlaneConnections } from './connect-target.ts';
import { createForwarder, type Forwarder } from './general/call/forwarder.ts';
import { createWebsockets, type WebsocketPorts, type Websockets } from './general/websocket/websocket.ts';

export interface Forwarding {
  readonly forwarder: Forwarder;
  readonly websockets: Websockets;
  readonly direct: ForwardPorts;
}

export interface ForwardingPorts extends WebsocketPorts {
  readonly pools: Pick<Pools<PlaneConnections>, 'route' | 'budget'>;
  /** Called once, with the source of the count of open WebSockets. */
  readonly countWebsockets: (open: Websockets['services']) => void;
}

export function createForwarding(ports: ForwardingPorts): Forwarding {
  const websockets = createWebsockets(ports);
  ports.countWebsockets(websockets.services);
  const heldBodies = { held: 0, most: MAX_HELD };
  const awaitedBodies = { awaited: 0, most: MAX_AWAITED, startDeadline: ports.startDeadline };
  const general = { ...ports, heldBodies, awaitedBodies };
  const direct = { ...general, pools: directPools(ports.pools) };
  return { forwarder: createForwarder(general), websockets, direct };
}
