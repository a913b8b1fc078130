// `npm run test:redis [-- <pattern of a fault>]`: responses, latency and recovery for each fault of Redis.
import { startEcho } from '../../upstreams/echo/echo.ts';
import { untilOthersRest, watchOthers } from '../faults/machine.ts';
import { startRedis } from '../support/redis-server.ts';
import type { Fault } from './faults.ts';
import { behindSentinels, downAtStart, inCluster, openGateway, single } from './fixtures.ts';
import { type Asked, type Line, measure } from './measure.ts';

const LONGEST_RUN_MS = 240_000;
/** Share of all processors; below it a machine counts as idle. */
const BUSY = 0.1;
const MEASURED_AT_MOST = 4;
const WAIT_FOR_REST_MS = 10_000;
const HEAD = ['Redis is', 'mode', 'answered', 'p50 ms', 'p99 ms', 'max ms', 'up', 'shown', 'exact ms'];
const WIDTHS = [30, 8, 24, 8, 8, 8, 4, 8, 9];

const say = (cells: readonly string[]): void => {
  process.stdout.write(
    `${cells
      .map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0))
      .join(' ')
      .trimEnd()}\n`,
  );
};

setTimeout(() => {
  process.stderr.write(`not finished after ${LONGEST_RUN_MS / 1_000} s\n`);
  process.exit(1);
}, LONGEST_RUN_MS).unref();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** Repeated up to `times` if only a busy machine can be the cause. */
async function measured(fault: Fault, faulty: Asked, well: Asked, times: number): Promise<readonly Line[]> {
  const others = watchOthers();
  const lines = await measure(fault, faulty, well);
  const broken = lines.flatMap((line) => line.broken);
  const isSpoilt = broken.length > 0 && broken.every(({ timed }) => timed) && others() > BUSY;
  if (!isSpoilt || times === 1) return lines;
  await untilOthersRest(BUSY, WAIT_FOR_REST_MS);
  return measured(fault, faulty, well, times - 1);
}

const wanted = new RegExp(process.argv[2] ?? '');
await using stack = new AsyncDisposableStack();
const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
const redis = stack.adopt(await startRedis(), ({ stop }) => stop());
const well = await openGateway(stack, echo.url, redis.url);
process.stdout.write('Added to a request, against a gateway whose Redis is well, asked in turn:\n');
say(HEAD);
let broken = 0;
for (const open of [downAtStart, single, behindSentinels, inCluster]) {
  await using own = new AsyncDisposableStack();
  const { asked, faults } = await open(own, echo.url);
  for (const fault of faults.filter(({ what }) => wanted.test(what))) {
    // A fault that happens once cannot be measured again.
    const times = open === single ? MEASURED_AT_MOST : 1;
    for (const line of await measured(fault, asked, well, times)) {
      say(line.cells);
      for (const { text } of line.broken) process.stdout.write(`  BROKEN: ${text}\n`);
      broken += line.broken.length;
    }
  }
}
process.stdout.write(broken === 0 ? 'all kept\n' : `${broken} broken\n`);
process.exitCode = broken === 0 ? 0 : 1;
