// Prints one access token for the consumer acme with the scopes of all samples, signed with the issuer's own key.
// Works before the issuer was ever started: whoever comes first makes the key file.
import { ACME } from './clients.ts';
import { readEnvironment } from './environment.ts';
import { loadIssuerKey } from './key-file.ts';
import { signAccessToken } from './sign.ts';

const { port, dataFolder } = readEnvironment(process.env);
const token = await signAccessToken(await loadIssuerKey(dataFolder), {
  issuer: `http://127.0.0.1:${port}`,
  clientId: ACME.id,
  scopes: ACME.scopes,
  now: Date.now(),
});
console.log(token);
