// Where the sample issuer stands and what it is called: port, data folder and name, as the environment says.
// Read by main.ts and by the commands beside it, which must agree.
import { resolve } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

export const ISSUER_PORT = { variable: 'SUNDIAL_ISSUER_PORT', fallback: 4000 } as const;

/** Where it lives, at the gateway and on its own port. */
export const MOUNT = '/auth';

/** SUNDIAL_DATA, default ./data, made absolute. */
export function dataFolderOf(environment: Environment): string {
  return resolve(environment.SUNDIAL_DATA || './data');
}

/** The `iss` of its tokens: its address at the gateway, through which everyone but the gateway itself reaches it. */
export function issuerOf(environment: Environment): string {
  return `https://127.0.0.1:${environment.SUNDIAL_HTTPS_PORT || '8443'}${MOUNT}`;
}
