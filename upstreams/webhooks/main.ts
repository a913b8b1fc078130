// Runs the webhooks service as a process: `node upstreams/webhooks/main.ts`.
import { runService } from '../service/run.ts';
import { openEnvironment } from './environment.ts';
import { createFaultLog } from './fault-log.ts';
import { startWebhooks } from './webhooks.ts';

const log = (line: Readonly<Record<string, unknown>>): void => {
  process.stderr.write(`${JSON.stringify({ service: 'webhooks', ...line })}\n`);
};

await runService({
  name: 'webhooks',
  variable: 'SUNDIAL_WEBHOOKS_PORT',
  fallback: 4006,
  environment: process.env,
  start: async ({ port }) => {
    const webhooksEnvironment = await openEnvironment(process.env, {
      now: Date.now,
      onFault: createFaultLog(log, Date.now),
    });
    return startWebhooks({ port, ...webhooksEnvironment, log });
  },
});
