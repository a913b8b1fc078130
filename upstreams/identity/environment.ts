// Where the sample issuer stands: its port and its data folder, as the environment says.
// Read by main.ts and token.ts, which must agree on the issuer's name and key file.
import { resolve } from 'node:path';

export interface IssuerEnvironment {
  readonly port: number;
  /** Absolute. */
  readonly dataFolder: string;
}

/** Reads SUNDIAL_ISSUER_PORT (default 4000) and SUNDIAL_DATA (default ./data); throws on a bad port. */
export function readEnvironment(environment: NodeJS.ProcessEnv): IssuerEnvironment {
  const written = environment.SUNDIAL_ISSUER_PORT ?? '4000';
  const port = Number(written);
  if (!/^\d{1,5}$/.test(written) || port > 65_535) throw new Error('SUNDIAL_ISSUER_PORT is no port number');
  return { port, dataFolder: resolve(environment.SUNDIAL_DATA ?? './data') };
}
