// Runs the sample client as a process: `node upstreams/client/main.ts`. It is a web page that signs a person in and calls the
// sample APIs.
import { join } from 'node:path';
import { dataFolderOf, issuerOf } from '../identity/environment.ts';
import { runService } from '../service/run.ts';
import { startClient } from './server.ts';

const { env } = process;

await runService({
  name: 'client',
  variable: 'SUNDIAL_CLIENT_PORT',
  fallback: 4008,
  environment: env,
  start: ({ port }) =>
    startClient({
      port,
      host: env.SUNDIAL_CLIENT_HOST || '127.0.0.1',
      issuer: issuerOf(env),
      trusted: env.SUNDIAL_GATEWAY_CA || join(dataFolderOf(env), 'gateway.crt'),
    }),
});
