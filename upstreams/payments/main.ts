// Runs the payments service as a process: `node upstreams/payments/main.ts`.
import { runService } from '../service/run.ts';
import { storedOptionsOf } from '../service/stored-service.ts';
import { startPayments } from './payments.ts';

await runService({
  name: 'payments',
  variable: 'SUNDIAL_PAYMENTS_PORT',
  fallback: 4005,
  environment: process.env,
  start: async ({ port }) => startPayments({ port, ...storedOptionsOf(process.env) }),
});
