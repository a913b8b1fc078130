// Prints an access token with all scopes for a machine client (default: acme), from the running issuer's own port, which has no
// limits.
import { readPort } from '../service/run.ts';
import { CLIENTS } from './clients.ts';
import { ISSUER_PORT, MOUNT } from './environment.ts';
import { SAMPLE_CLIENT_SECRETS } from './sample-secrets.ts';

const port = readIssuerPort();
const name = process.argv[2] ?? 'acme';
const machines = CLIENTS.filter(({ kind }) => kind === 'machine').map(({ id }) => id);
if (!machines.includes(name)) stop(2, `there is no client "${name}", only ${machines.join(', ')}`);

const endpoint = `http://127.0.0.1:${port}${MOUNT}/token`;
const form = {
  grant_type: 'client_credentials',
  client_id: name,
  client_secret: SAMPLE_CLIENT_SECRETS[name] ?? '',
};
const answer = await fetch(endpoint, { method: 'POST', body: new URLSearchParams(form) }).catch(() =>
  stop(
    3,
    `the sample issuer does not answer on port ${port}; \`npm start\` runs it, ${ISSUER_PORT.variable} says where`,
  ),
);
const granted: unknown = await answer.json().catch(() => undefined);
const token =
  typeof granted === 'object' && granted !== null ? Reflect.get(granted, 'access_token') : undefined;
if (typeof token !== 'string')
  stop(3, `the sample issuer grants no token: ${answer.status} ${JSON.stringify(granted)}`);
process.stdout.write(`${token}\n`);

function readIssuerPort(): number {
  try {
    return readPort(ISSUER_PORT.variable, ISSUER_PORT.fallback, process.env);
  } catch (error) {
    return stop(2, error instanceof Error ? error.message : String(error));
  }
}

function stop(code: number, line: string): never {
  process.stderr.write(`token: ${line}\n`);
  process.exit(code);
}
