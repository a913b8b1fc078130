// Ports for what must know its number before it listens.
import { createServer, type Server } from 'node:net';

/** Below what systems hand out for port 0, so that nobody is given one of these between our look and its use. */
const LOWEST = 20_000;
const HIGHEST = 30_000;

/** Distinct ports on 127.0.0.1 that are free: all are held until the last one is known. */
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

/** Undefined when the port is taken. */
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
