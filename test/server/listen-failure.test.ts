// Messages for operators if a listener cannot be opened, from real system errors.
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Settings } from '../../gateway/plan/settings.ts';
import { ListenFailure, listenFailure } from '../../gateway/server/listen-failure.ts';
import { startGateway } from '../plane/gateway-under-test.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** The error of listening there, or the port if it succeeds. */
function listen(port: number, host?: string): Promise<unknown> {
  return new Promise((resolve) => {
    const server = createServer();
    servers.push(server);
    server.once('error', resolve);
    server.listen({ port, ...(host !== undefined && { host }) }, () => {
      const bound = server.address();
      resolve(typeof bound === 'object' ? bound?.port : undefined);
    });
  });
}

const https = (host: string | undefined, port: number): Settings['listeners']['https'] => ({
  address: { host, port },
  plane: 'fast',
  hstsSeconds: undefined,
  certificates: [],
  defaultName: undefined,
  refusesNameless: false,
  clientCertificates: undefined,
});

describe('a listener that cannot be opened', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    [undefined, ''],
  ])('is reported with address and reason: %s', async (host, shown) => {
    const port = Number(await listen(0, host));
    const listeners = {
      https: https(host, port),
      http: undefined,
      admin: { address: { host: '127.0.0.1', port: port - 1 }, token: undefined },
      metrics: undefined,
    };
    const failure = listenFailure(await listen(port, host), listeners);
    expect(failure).toBeInstanceOf(ListenFailure);
    expect(failure).toMatchObject({
      listener: 'https',
      code: 'EADDRINUSE',
      message: `the https listener cannot listen on ${shown}:${port}: the address is in use`,
    });
  });

  it('is distinguished from a listener with the same port on another address', async () => {
    const port = Number(await listen(0, '127.0.0.2'));
    const listeners = {
      https: https('127.0.0.1', port),
      http: undefined,
      admin: { address: { host: '127.0.0.2', port }, token: undefined },
      metrics: undefined,
    };
    expect(listenFailure(await listen(port, '127.0.0.2'), listeners)).toMatchObject({ listener: 'admin' });
  });

  it('is reported if a passed descriptor is not a TCP socket', async () => {
    const address = { host: '127.0.0.1', port: 47_002 };
    const NO_DESCRIPTOR = 2 ** 30;
    await expect(startGateway({ address, socket: NO_DESCRIPTOR })).rejects.toThrow(
      'the socket that was passed for a public listener is not a TCP socket',
    );
  });

  it('is reported if this machine does not have its address', async () => {
    const listeners = {
      https: undefined,
      http: { address: { host: '192.0.2.1', port: 47_001 }, plane: 'fast' as const, mode: 'reject' as const },
      admin: undefined,
      metrics: undefined,
    };
    expect(listenFailure(await listen(47_001, '192.0.2.1'), listeners)).toMatchObject({
      message: 'the http listener cannot listen on 192.0.2.1:47001: this machine has no such address',
    });
  });

  it('is not reported for any other failure', () => {
    const listeners = { https: undefined, http: undefined, admin: undefined, metrics: undefined };
    const others = [
      new Error('no certificate'),
      Object.assign(new Error(), { syscall: 'listen', port: 1 }),
      7,
    ];
    for (const other of others) expect(listenFailure(other, listeners)).toBe(other);
  });
});
