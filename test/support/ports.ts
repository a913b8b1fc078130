// Ports for what must know its number before it listens.
import { createServer, type Server } from 'node:net';

/** Distinct ports on 127.0.0.1 that were free a moment ago: all are held until the last one is known. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const held = await Promise.all(Array.from({ length: count }, () => hold()));
  await Promise.all(held.map(({ server }) => new Promise<void>((resolve) => server.close(() => resolve()))));
  return held.map(({ port }) => port);
}

function hold(): Promise<{ readonly server: Server; readonly port: number }> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const bound = server.address();
      resolve({ server, port: typeof bound === 'object' && bound !== null ? bound.port : 0 });
    });
  });
}
