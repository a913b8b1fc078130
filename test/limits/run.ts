// `npm run test:limits`: checks the formula of limits with gateways and workers that count together.
import { onEmbedded, onRedis, overCuts } from './cases.ts';

const LONGEST_RUN_MS = 88_000;

setTimeout(() => {
  process.stderr.write(`not finished after ${LONGEST_RUN_MS / 1_000} s\n`);
  process.exit(1);
}, LONGEST_RUN_MS).unref();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

process.stdout.write('admitted = burst + floor(elapsed / T), T = window / rate; by leases never more\n');
let broken = 0;
for (const cases of [onRedis, onEmbedded, overCuts]) {
  for await (const { kept, text } of cases()) {
    process.stdout.write(`${kept ? 'kept  ' : 'BROKEN'} ${text}\n`);
    if (!kept) broken += 1;
  }
}
process.exitCode = broken === 0 ? 0 : 1;
