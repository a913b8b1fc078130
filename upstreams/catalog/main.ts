// `node upstreams/catalog/main.ts`: runs the product catalog as a process of its own.
import { runService } from '../service/run.ts';
import { startCatalog } from './catalog.ts';

await runService({
  name: 'catalog',
  variable: 'SUNDIAL_CATALOG_PORT',
  fallback: 4003,
  environment: process.env,
  start: startCatalog,
});
