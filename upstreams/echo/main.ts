// Runs the echo as a process: `node upstreams/echo/main.ts`.
import { runService } from '../service/run.ts';
import { startEcho } from './echo.ts';

await runService({
  name: 'echo',
  variable: 'SUNDIAL_ECHO_PORT',
  fallback: 4004,
  environment: process.env,
  start: startEcho,
});
