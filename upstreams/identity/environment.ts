// Where the sample issuer stands: its port and its data folder, as the environment says.
// Read by main.ts and token.ts, which must agree on the issuer's name and key file.
import { resolve } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

export const ISSUER_PORT = { variable: 'SUNDIAL_ISSUER_PORT', fallback: 4000 } as const;

/** SUNDIAL_DATA, default ./data, made absolute. */
export function dataFolderOf(environment: Environment): string {
  return resolve(environment.SUNDIAL_DATA || './data');
}
