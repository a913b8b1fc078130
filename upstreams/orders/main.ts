// Runs one of the two order services as a process: `node upstreams/orders/main.ts v1|v2`; both use one database file.
import { runService } from '../service/run.ts';
import { storedOptionsOf } from '../service/stored-service.ts';
import { startOrdersV1 } from './v1.ts';
import { startOrdersV2 } from './v2.ts';

const environment = process.env;

switch (process.argv[2]) {
  case 'v1':
    await runService({
      name: 'orders-v1',
      variable: 'SUNDIAL_ORDERS_V1_PORT',
      fallback: 4001,
      environment,
      start: async ({ port }) => startOrdersV1({ port, ...storedOptionsOf(environment) }),
    });
    break;
  case 'v2':
    await runService({
      name: 'orders-v2',
      variable: 'SUNDIAL_ORDERS_V2_PORT',
      fallback: 4002,
      environment,
      start: async ({ port }) => startOrdersV2({ port, ...storedOptionsOf(environment) }),
    });
    break;
  default:
    process.stderr.write('usage: node upstreams/orders/main.ts v1|v2\n');
    process.exitCode = 2;
}
