// npm run bench:workers: the same load against Sundial with one worker and with two, in turns in one run. Prints ratios.
// Load and upstream share the processors with it, so that on two of them the ratio is what is left for the second worker.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis } from '../support/redis-server.ts';
import { startChild, stopChildren } from './children.ts';
import { startIssuer } from './issuer.ts';
import { type Measurement, measure } from './measure.ts';
import { startPeer } from './peers.ts';
import { median } from './report.ts';
import { benchRequests, CONSUMERS } from './work.ts';

const [WARM_UP_S, ROUNDS, SECONDS] = [4, 6, 4];
/** A worker that has no lease yet, or waits for the processor, answers without numbers. */
const ANY_QUOTA = 1;

await using stack = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), 'sundial-bench-'));
stack.defer(() => rmSync(folder, { recursive: true, force: true }));
const redis = stack.adopt(await startRedis(), (running) => running.stop());
const issuer = stack.adopt(await startIssuer(), (running) => running.stop());
stack.defer(stopChildren);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stack.disposeAsync().then(() => process.exit(1)));
const requests = benchRequests(await issuer.tokens(CONSUMERS));
const [sample] = requests;
if (sample === undefined) throw new Error('there is nothing to ask');

const aside = { environment: {}, prefix: [], output: 'inherit', announces: true } as const;
const upstream = await startChild([join(import.meta.dirname, 'upstream.ts')], aside);
const load = await startChild([join(import.meta.dirname, 'load.ts')], aside);
const startWith = async (workers: number) => {
  const own = join(folder, String(workers));
  mkdirSync(own);
  return startPeer('sundial', {
    environment: {
      BENCH_UPSTREAM: `http://127.0.0.1:${upstream.port}`,
      BENCH_ISSUER: issuer.issuer,
      BENCH_REDIS: redis.url,
      BENCH_WORKERS: String(workers),
    },
    prefix: [],
    folder: own,
    sample,
    profile: undefined,
  });
};
const [one, two] = [await startWith(1), await startWith(2)];
const run = (peer: typeof one, seconds: number): Promise<Measurement> =>
  measure(load.process, peer, requests, { seconds, quotaSlack: ANY_QUOTA });
for (const peer of [one, two]) await run(peer, WARM_UP_S);

const rounds: { readonly rate: number; readonly p99: number; readonly each: readonly [number, number] }[] =
  [];
for (let round = 0; round < ROUNDS; round += 1) {
  const measured = new Map<typeof one, Measurement>();
  for (const peer of round % 2 === 0 ? [one, two] : [two, one]) measured.set(peer, await run(peer, SECONDS));
  const [single, both] = [measured.get(one), measured.get(two)];
  if (single === undefined || both === undefined) throw new Error('a round lacks a measurement');
  rounds.push({
    rate: both.perSecond / single.perSecond,
    p99: both.p99 / single.p99,
    each: [single.perSecond, both.perSecond],
  });
}

function ratio(of: (round: (typeof rounds)[number]) => number): string {
  const values = rounds.map(of);
  return `${median(values).toFixed(2)} [${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}]`;
}
const context = [0, 1].map((at) => Math.round(median(rounds.map(({ each }) => each[at] ?? Number.NaN))));
process.stdout.write(
  `two workers / one, median of ${ROUNDS} rounds [least to most], ${availableParallelism()} processors shared with load and upstream\n` +
    `  requests per second (higher is better)  ${ratio(({ rate }) => rate)}   here and now ${context[1]} / ${context[0]}\n` +
    `  p99 latency         (lower is better)   ${ratio(({ p99 }) => p99)}\n`,
);
