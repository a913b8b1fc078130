// A webhook endpoint over TLS that records each call and answers with a chosen status.
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface Delivered {
  readonly at: number;
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Subscriber extends AsyncDisposable {
  readonly port: number;
  readonly calls: readonly Delivered[];
}

/** Listens on 127.0.0.1 as `localhost`. `statusOf` gets the number of earlier calls. */
export async function startSubscriber(
  pair: { readonly cert: string; readonly key: string },
  statusOf: (before: number) => number,
): Promise<Subscriber> {
  const calls: Delivered[] = [];
  const server = createServer(pair, (request, response) => {
    const { method, headers } = request;
    buffer(request).then(
      (body) => {
        const status = statusOf(calls.length);
        calls.push({ at: performance.now(), method, headers, body });
        response.writeHead(status).end();
      },
      () => response.destroy(), // the sender disconnected
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    calls,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
