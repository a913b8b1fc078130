// The two ways a request goes to a service, over the same targets: forwarded, or handed over as a WebSocket.
// Made by the composition root, given to the public listeners.
import { createForwarder, type Forwarder } from './forwarder.ts';
import type { Pools } from './pools.ts';
import { createWebsockets, type WebsocketPorts, type Websockets } from './websocket.ts';

export interface Forwarding {
  readonly forwarder: Forwarder;
  readonly websockets: Websockets;
}

export interface ForwardingPorts extends WebsocketPorts {
  readonly pools: Pools;
  /** Told once where the open WebSockets can be counted. */
  readonly countWebsockets: (open: Websockets['services']) => void;
}

export function createForwarding(ports: ForwardingPorts): Forwarding {
  const websockets = createWebsockets(ports);
  ports.countWebsockets(websockets.services);
  return { forwarder: createForwarder(ports), websockets };
}
