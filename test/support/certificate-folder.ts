// A folder of key pairs for a gateway in a test, removed when the test ends.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyPair } from '../../gateway/server/certificates.ts';
import { makeKeyPair } from './key-pairs.ts';

export interface CertificateFolder extends AsyncDisposable {
  readonly path: string;
  /** Makes a pair for `names` and writes it as `<file>.crt` and `<file>.key`, replacing an older one. */
  readonly place: (file: string, names: readonly string[]) => Promise<KeyPair>;
}

export async function certificateFolder(): Promise<CertificateFolder> {
  const path = await mkdtemp(join(tmpdir(), 'sundial-certificates-'));
  return {
    path,
    place: async (file, names) => {
      const pair = await makeKeyPair({ names });
      await writeFile(join(path, `${file}.key`), pair.key, { mode: 0o600 });
      await writeFile(join(path, `${file}.crt`), pair.cert);
      return pair;
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
}
