// Prints one access token for the consumer acme with the scopes of all samples, signed with the issuer's own key.
// Works before the issuer was ever started: whoever comes first makes the key file.
import { readPort } from '../service/run.ts';
import { ACME } from './clients.ts';
import { dataFolderOf, ISSUER_PORT } from './environment.ts';
import { loadIssuerKey } from './key-file.ts';
import { signAccessToken } from './sign.ts';

const port = readPort('token', ISSUER_PORT.variable, ISSUER_PORT.fallback, process.env);
try {
  const token = await signAccessToken(await loadIssuerKey(dataFolderOf(process.env)), {
    issuer: `http://127.0.0.1:${port}`,
    clientId: ACME.id,
    scopes: ACME.scopes,
    now: Date.now(),
  });
  process.stdout.write(`${token}\n`);
} catch (error) {
  process.stderr.write(`token: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 3;
}
