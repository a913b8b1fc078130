// Port, data folder and name of the sample issuer, read from the environment by the service and by its commands.
import { resolve } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

export const ISSUER_PORT = { variable: 'SUNDIAL_ISSUER_PORT', fallback: 4000 } as const;

export const MOUNT = '/auth';

/** SUNDIAL_DATA, default ./data, as an absolute path. */
export function dataFolderOf(environment: Environment): string {
  return resolve(environment.SUNDIAL_DATA || './data');
}

/** The `iss` of its tokens: its URL at the gateway. Only the gateway itself uses the issuer's own port. */
export function issuerOf(environment: Environment): string {
  return `https://127.0.0.1:${environment.SUNDIAL_HTTPS_PORT || '8443'}${MOUNT}`;
}
