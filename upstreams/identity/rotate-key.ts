// Makes a new signing key for the sample issuer: `npx node upstreams/identity/rotate-key.ts`, then restart it.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { dataFolderOf } from './environment.ts';
import { rotateIssuerKey } from './key-file.ts';

/** The longest token lifetime. Before it has passed, the key before the previous one may still be needed. */
const OVERLAP_MS = 3_600_000;

const folder = dataFolderOf(process.env);
try {
  const last = await stat(join(folder, 'issuer-key-previous.json')).catch(() => undefined);
  // A rename keeps the modification time and sets the change time.
  const since = last === undefined ? OVERLAP_MS : Date.now() - last.ctimeMs;
  if (since < OVERLAP_MS) {
    const minutes = Math.ceil((OVERLAP_MS - since) / 60_000);
    throw new Error(
      `the last rotation is too recent: wait ${minutes} minutes until older tokens have expired`,
    );
  }
  const { kid } = await rotateIssuerKey(folder);
  process.stdout.write(
    `The key ${kid} signs after a restart of the identity service. Earlier tokens stay valid until they expire.\n`,
  );
} catch (error) {
  process.stderr.write(`rotate-key: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 3;
}
