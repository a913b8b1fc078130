// Starts a gateway and the WebSocket upstream behind it, and stops both at the end of the file.
import { afterAll } from 'vitest';
import { type Opening, openWebSocket, type WebSocketClient } from '../../support/websocket-client.ts';
import { startWebSocketUpstream, type WebSocketUpstream } from '../../support/websocket-upstream.ts';
import { type GatewayOptions, type GatewayUnderTest, startGateway } from '../gateway-under-test.ts';

export interface Pair {
  readonly upstream: WebSocketUpstream;
  readonly gateway: GatewayUnderTest;
  readonly open: (path: string, opening?: Opening) => Promise<WebSocketClient>;
}

/** Call once, at the top of a test file. Concurrent tests share it, so it stops at the end of the file. */
export function pairsToTheEnd(): {
  readonly stack: AsyncDisposableStack;
  readonly pair: (options?: GatewayOptions) => Promise<Pair>;
} {
  const stack = new AsyncDisposableStack();
  afterAll(() => stack.disposeAsync());
  const pair = async (options: GatewayOptions = {}): Promise<Pair> => {
    const upstream = stack.use(await startWebSocketUpstream());
    const gateway = stack.adopt(
      await startGateway({ upstream: upstream.url, plan: { timeouts: PATIENT }, ...options }),
      (started) => started.stop(),
    );
    const open: Pair['open'] = async (path, opening) =>
      stack.use(
        await openWebSocket(gateway.port, path, {
          tls: options.tls ?? false,
          host: 'api.example.com',
          ...opening,
        }),
      );
    return { upstream, gateway, open };
  };
  return { stack, pair };
}

/** For tests without timeouts. */
const PATIENT = { connect: 5_000, headers: 20_000, idle: 20_000, total: 60_000 };

export const isIdle = ({ listener, websockets }: GatewayUnderTest): boolean =>
  listener.connections() === 0 && [...websockets.services()].length === 0;
