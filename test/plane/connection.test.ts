// A request that must not be sent twice gets a new connection after a long idle time.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildConnector, type Client } from 'undici';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openClient } from '../../gateway/plane/general/client/http-connections.ts';
import type { ConnectionAware } from '../../gateway/plane/general/client/upstream-call.ts';

/** Keeps idle connections longer than any test runs, and counts connections. */
let connections = 0;
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  response.end('well');
}).on('connection', () => {
  connections += 1;
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
let now = 0;
let client: Client;

beforeEach(() => {
  connections = 0;
  now = 0;
  client = openClient(origin, { connect: buildConnector({}), pipelining: 1, monotonic: () => now });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends a request as `callTarget` does. */
function ask(method: string, body?: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let status = 0;
  const handler: ConnectionAware = {
    connection: undefined,
    onRequestStart: () => handler.connection?.expectAnswer(),
    onResponseStart: (_controller, code) => {
      status = code;
    },
    onResponseData: () => undefined,
    onResponseEnd: () => {
      handler.connection?.answered();
      // The connection is free once undici has seen the end too.
      setImmediate(() => resolve(status));
    },
    onResponseError: (_controller, error) => reject(error),
  };
  client.dispatch({ path: '/', method, body: body ?? null }, handler);
  return promise;
}

async function askAgain(idleMs: number, method: string, body?: string): Promise<number> {
  expect(await ask('GET')).toBe(200);
  now += idleMs;
  expect(await ask(method, body)).toBe(200);
  await client.destroy();
  return connections;
}

describe('an idle upstream connection', () => {
  it.each([
    ['a POST', 'POST', undefined],
    ['a PUT with a body', 'PUT', 'new'],
  ])('is not used after four seconds for %s', async (_what, method, body) => {
    expect(await askAgain(4_001, method, body)).toBe(2);
  });

  it.each([
    ['a GET after four seconds, because a GET may be retried', 4_001, 'GET'],
    ['a POST within four seconds', 3_999, 'POST'],
  ])('is used for %s', async (_what, idleMs, method) => {
    expect(await askAgain(idleMs, method)).toBe(1);
  });
});
