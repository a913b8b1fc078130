// An upstream over TLS with a certificate that nobody vouches for.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCertificates } from '../../gateway/server/certificates.ts';

export interface UntrustedUpstream extends AsyncDisposable {
  readonly url: string;
  /** Requests that reached it. */
  readonly requests: number;
}

/** A certificate for 127.0.0.1 and its key, PEM, signed by itself. */
export async function makeCertificate(): Promise<{ readonly cert: string; readonly key: string }> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'sundial-untrusted-'));
  const https = {
    address: { host: '127.0.0.1', port: 0 },
    hstsSeconds: undefined,
    certificates: [],
    defaultName: undefined,
  };
  const made = await loadCertificates(https, { dataFolder, hosts: ['127.0.0.1'], now: Date.now() });
  await rm(dataFolder, { recursive: true, force: true });
  return { cert: made.default.cert, key: made.default.key };
}

export async function startUntrustedUpstream(): Promise<UntrustedUpstream> {
  let requests = 0;
  const server = createServer(await makeCertificate(), (_request, response) => {
    requests += 1;
    response.end('secret');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  return {
    url: `https://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`,
    get requests() {
      return requests;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
