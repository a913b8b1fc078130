// `node upstreams/payments/main.ts`: runs the payments service as a process of its own.
import { runService } from '../service/run.ts';
import { startPayments } from './payments.ts';

await runService({
  name: 'payments',
  variable: 'SUNDIAL_PAYMENTS_PORT',
  fallback: 4005,
  environment: process.env,
  start: startPayments,
});
