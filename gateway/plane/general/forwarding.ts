// The two ways a request goes to a service, over the same targets: forwarded, or handed over as a WebSocket.
// Made by the composition root, given to the public listeners.
import { MOST_HELD } from '../../upstream/bodies/held-body.ts';
import { MOST_AWAITED } from '../../upstream/bodies/measured-body.ts';
import { createForwarder, type Forwarder } from './call/forwarder.ts';
import { createWebsockets, type WebsocketPorts, type Websockets } from './websocket/websocket.ts';

export interface Forwarding {
  readonly forwarder: Forwarder;
  readonly websockets: Websockets;
}

export interface ForwardingPorts extends WebsocketPorts {
  /** Told once where the open WebSockets can be counted. */
  readonly countWebsockets: (open: Websockets['services']) => void;
}

export function createForwarding(ports: ForwardingPorts): Forwarding {
  const websockets = createWebsockets(ports);
  ports.countWebsockets(websockets.services);
  const heldBodies = { held: 0, most: MOST_HELD };
  const awaitedBodies = { awaited: 0, most: MOST_AWAITED, startDeadline: ports.startDeadline };
  return { forwarder: createForwarder({ ...ports, heldBodies, awaitedBodies }), websockets };
}
