// Starts and stops the HTTP server of a sample service.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendError, sendJson } from './answer.ts';
import { isOwnHost } from './own-host.ts';

export interface ListenOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Accepted host names, besides addresses and names of this machine; `any` accepts all, for public data. */
  readonly hosts?: readonly string[] | 'any';
}

export interface Service {
  readonly port: number;
  /** Origin without a trailing slash. */
  readonly url: string;
  /** Stops at once and closes open connections. */
  close(): Promise<void>;
}

/**
 * Serves `answer` and `/healthz`; requests for other hosts get 421. Rejects with the system's error if the port is not available.
 */
export async function listen(
  answer: RequestListener,
  { port, host = '127.0.0.1', hosts = [] }: ListenOptions,
): Promise<Service> {
  const server = createServer((request, response) => {
    if (hosts !== 'any' && !isOwnHost(request, hosts))
      sendError(response, 421, 'The service does not serve this host', { Connection: 'close' });
    else if (request.url === '/healthz') sendJson(response, 200, { status: 'ok' });
    else answer(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  // A listening TCP server has an AddressInfo. The other types belong to pipes and closed servers.
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}
