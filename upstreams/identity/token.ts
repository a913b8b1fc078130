// Prints one access token for a client (default: acme) with all its scopes, signed with the issuer's own key.
// Works before the issuer was ever started: whoever comes first makes the key file.
import { readPort } from '../service/run.ts';
import { ACME, CLIENTS } from './clients.ts';
import { dataFolderOf, ISSUER_PORT } from './environment.ts';
import { loadIssuerKey } from './key-file.ts';
import { signAccessToken } from './sign.ts';

const port = readPort('token', ISSUER_PORT.variable, ISSUER_PORT.fallback, process.env);
const name = process.argv[2] ?? ACME.id;
const client = CLIENTS.find(({ id }) => id === name);
if (client === undefined) {
  process.stderr.write(
    `token: there is no client "${name}", only ${CLIENTS.map(({ id }) => id).join(', ')}\n`,
  );
  process.exit(2);
}
try {
  const token = await signAccessToken(await loadIssuerKey(dataFolderOf(process.env)), {
    issuer: `http://127.0.0.1:${port}`,
    client,
    scopes: client.scopes,
    now: Date.now(),
  });
  process.stdout.write(`${token}\n`);
} catch (error) {
  process.stderr.write(`token: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 3;
}
