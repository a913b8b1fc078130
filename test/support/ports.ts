// Finds free ports for servers that must know their port before they listen.
import { createServer, type Server } from 'node:net';

/** Below the range for port 0, so that the system does not give them away before their use. */
const LOWEST = 20_000;
const HIGHEST = 30_000;

/** Distinct free ports on 127.0.0.1; all are held until the last one is found. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const held: { readonly server: Server; readonly port: number }[] = [];
  while (held.length < count) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    const server = await hold(port);
    if (server !== undefined) held.push({ server, port });
  }
  await Promise.all(held.map(({ server }) => new Promise<void>((resolve) => server.close(() => resolve()))));
  return held.map(({ port }) => port);
}

function hold(port: number): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
