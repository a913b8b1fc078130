// `node upstreams/orders/main.ts v1|v2`: runs one of the two order services as a process of its own.
import { runService } from '../service/run.ts';
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
      start: startOrdersV1,
    });
    break;
  case 'v2':
    await runService({
      name: 'orders-v2',
      variable: 'SUNDIAL_ORDERS_V2_PORT',
      fallback: 4002,
      environment,
      start: startOrdersV2,
    });
    break;
  default:
    process.stderr.write('usage: node upstreams/orders/main.ts v1|v2\n');
    process.exitCode = 2;
}
