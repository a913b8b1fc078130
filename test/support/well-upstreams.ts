// Healthy upstreams that return what they received, one for each name from which policies read an address.
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { KeyPair } from '../../gateway/server/certificates.ts';
import { sendJson } from '../../upstreams/service/answer.ts';
import { listen, type Service } from '../../upstreams/service/listen.ts';
import { makeKeyPair } from './key-pairs.ts';

export interface WellUpstreams extends AsyncDisposable {
  /** The same service for the same name. */
  readonly named: (name: string) => Promise<Service>;
  /** Over TLS and HTTP/2, as orders.internal, with client certificates. */
  readonly secure: SecureUpstream;
}

export interface SecureUpstream {
  readonly url: string;
  readonly server: KeyPair;
  readonly client: KeyPair;
}

export async function startWellUpstreams(): Promise<WellUpstreams> {
  const stack = new AsyncDisposableStack();
  const services = new Map<string, Promise<Service>>();
  const start = () =>
    listen(
      ({ url, headers }, response) =>
        sendJson(response, 200, { target: url, version: headers['api-version'] }),
      { port: 0, hosts: 'any' },
    );
  return {
    named: (name) => {
      const started = services.get(name) ?? start();
      if (!services.has(name)) stack.defer(async () => (await started).close());
      services.set(name, started);
      return started;
    },
    secure: await startSecure(stack),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function startSecure(stack: AsyncDisposableStack): Promise<SecureUpstream> {
  const server = await makeKeyPair({ names: ['orders.internal'] });
  const client = await makeKeyPair({ names: ['gateway.internal'] });
  const listener = createSecureServer({
    cert: server.cert,
    key: server.key,
    ca: client.cert,
    requestCert: true,
    rejectUnauthorized: true,
  });
  listener.on('request', ({ url, headers }, response) => {
    const body = JSON.stringify({ target: url, version: headers['api-version'] });
    response.setHeader('content-length', body.length);
    response.end(body);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  stack.defer(() => new Promise<void>((resolve) => void listener.close(() => resolve())));
  const { port } = listener.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, server, client };
}
