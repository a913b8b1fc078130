// A service of test/paths: its URL, and its end.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PathService extends AsyncDisposable {
  readonly url: string;
}

/** For a server in this process. */
export async function listening(server: Server): Promise<PathService> {
  if (!server.listening) {
    await new Promise<void>((resolve, reject) => {
      server.once('listening', resolve);
      server.once('error', reject);
    });
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
