// Runs the demo as main.ts does, with a stand-in for the gateway.
import { once } from 'node:events';
import { join } from 'node:path';
import { printToken, runDemo } from '../../../gateway/cli/demo/demo.ts';

const projectRoot =
  process.argv[2] === 'without-samples' ? import.meta.dirname : join(import.meta.dirname, '../../..');
if (process.argv[2] === 'token')
  process.exit(await printToken({ client: undefined, environment: process.env, projectRoot }));

const address = { host: '127.0.0.1', port: 8443 };

process.exitCode = await runDemo({
  environment: process.env,
  projectRoot,
  logFile: 'data/gateway.log',
  out: (text) => process.stdout.write(text),
  async startGateway(environment) {
    if (process.argv[2] === 'gateway-fails') throw new Error('the gateway does not start');
    if (process.argv[2] === 'interrupted-early') {
      const heard = once(process, 'SIGINT');
      process.kill(process.pid, 'SIGINT');
      await heard;
    }
    process.stdout.write(`issuer port ${environment.SUNDIAL_ISSUER_PORT}\n`);
    return {
      listeners: { https: { address }, http: undefined, admin: undefined, metrics: undefined },
      store: { kind: 'embedded', folder: '/data' },
      refused: [],
      workers: 1,
      fingerprint: 'AB:CD',
      lifecycleClock: '2026-11-20',
      async close() {
        process.stdout.write('gateway closing\n');
        // A drain that never ends: only a second signal ends the process.
        if (process.argv[2] === 'never-drains') await new Promise(() => setInterval(() => undefined, 1_000));
      },
    };
  },
});
