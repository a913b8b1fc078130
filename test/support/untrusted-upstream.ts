// An upstream over TLS with an untrusted certificate.
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSignedPair } from '../../gateway/server/self-signed.ts';

export interface UntrustedUpstream extends AsyncDisposable {
  readonly url: string;
  readonly requests: number;
}

/** A self-signed certificate for 127.0.0.1 and its key, in PEM. */
export async function makeCertificate(): Promise<{ readonly cert: string; readonly key: string }> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'sundial-untrusted-'));
  const { cert, key } = await selfSignedPair(dataFolder, ['127.0.0.1'], Date.now());
  await rm(dataFolder, { recursive: true, force: true });
  return { cert, key };
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
