// Runs the product catalog as a process: `node upstreams/catalog/main.ts`.
import { runService } from '../service/run.ts';
import { startCatalog } from './catalog.ts';

await runService({
  name: 'catalog',
  variable: 'SUNDIAL_CATALOG_PORT',
  fallback: 4003,
  environment: process.env,
  start: startCatalog,
});
