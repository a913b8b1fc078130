// Runs the sample issuer as a process: one ready line on stdout, a clean exit on a signal or when its parent goes.
// Started by the demo, or by hand: `node upstreams/identity/main.ts`.
import { readEnvironment } from './environment.ts';
import { startIssuer } from './server.ts';

const issuer = await startIssuer(readEnvironment(process.env));

const stop = async (): Promise<void> => {
  await issuer.close();
  process.exit(0);
};
for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.once(signal, stop);

console.log(`ready identity ${issuer.url}`);
