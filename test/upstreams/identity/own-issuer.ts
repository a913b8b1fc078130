// Runs the sample issuer in the test process, with a temporary data folder.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { type Issuer, startIssuer } from '../../../upstreams/identity/server.ts';
import { ISSUER } from '../../support/oauth-walk.ts';

export interface OwnIssuer extends AsyncDisposable {
  readonly issuer: Issuer;
  readonly folder: string;
}

/** `now` in epoch milliseconds; default: the system clock. */
export async function openIssuer(options: { readonly now?: () => number } = {}): Promise<OwnIssuer> {
  const folder = await mkdtemp(join(tmpdir(), 'sundial-issuer-'));
  const issuer = await startIssuer({ port: 0, dataFolder: folder, issuer: ISSUER, ...options });
  return {
    issuer,
    folder,
    [Symbol.asyncDispose]: async () => {
      await issuer.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Moves the system clock of this process, but no timer. The test must call `vi.useRealTimers` afterwards. */
export const later = (seconds: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
};
