// Runs the sample issuer as a process: `node upstreams/identity/main.ts`.
import { runService } from '../service/run.ts';
import { dataFolderOf, ISSUER_PORT, issuerOf } from './environment.ts';
import { startIssuer } from './server.ts';

await runService({
  name: 'identity',
  ...ISSUER_PORT,
  environment: process.env,
  start: ({ port }) =>
    startIssuer({ port, dataFolder: dataFolderOf(process.env), issuer: issuerOf(process.env) }),
});
