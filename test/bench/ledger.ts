// npm run bench:ledger: compares Sundial with and without its ledger, and profiles the ledger's share.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stopChild } from './children.ts';
import { folderFor, openGround, runBounded } from './ground.ts';
import { measureFull } from './measure.ts';
import { type Peer, startPeer } from './peers.ts';
import { cpuMicros, cpuMicrosOf } from './processor.ts';
import { shareOfThread } from './profile.ts';
import { median, spread } from './report.ts';
import { benchRequests, CONSUMERS, SMALL } from './work.ts';

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
/** Several starts, because the cost depends on how the code was compiled. */
const [STARTS, ROUNDS, WARM_UP_S, SECONDS] = options.quick ? [1, 4, 1, 0.5] : [3, 20, 3, 0.4];
const PROFILED_S = options.quick ? 2 : 15;
const PROFILE_WRITTEN_WITHIN_MS = 20_000;
/** Share of the gateway's work. */
const MAX = 0.02;
const OF_THE_LEDGER = /\/gateway\/(telemetry\/ledger|stores\/embedded\/ledger)/;
/** Under this load the thread writes only the ledger. */
const WRITING_THREAD = 'sundial-store';
/** off / off again: by how much equal processes differ. A smaller difference is not measurable. */
const KINDS = ['on', 'off', 'off again'] as const;
type Kind = (typeof KINDS)[number];
const LONGEST_MINUTES = 15;

await runBounded(LONGEST_MINUTES, async (stack) => {
  const ground = await openGround(stack, { store: 'embedded' });
  const { folder, where } = ground;
  const written = readFileSync(join(import.meta.dirname, 'peers/sundial/gateway.yaml'), 'utf8');
  const work = {
    ...({ protocol: 'http', answerOctets: SMALL } as const),
    requests: benchRequests(ground.tokens),
  };

  function startWith(kind: Kind, at: number, profile?: string): Promise<Peer> {
    const as = `${at} ${kind}${profile === undefined ? '' : ' profiled'}`;
    const own = folderFor(as, folder);
    const config = join(own, 'gateway.yaml');
    writeFileSync(config, kind === 'on' ? written : `${written}ledger: off\n`);
    // In one process, so that the whole cost of the ledger is measured, writing included.
    const environment = { BENCH_STORE: `embedded:${own}` };
    return startPeer('sundial, policy', ground, { as, config, environment, profile });
  }

  /** Microseconds of CPU time per request. */
  async function run(peer: Peer, seconds: number): Promise<number> {
    const { cpuPerRequest } = await measureFull(ground, peer, work, { seconds, brief: true });
    return cpuPerRequest ?? Number.NaN;
  }

  /** Microseconds of CPU time per request by kind, one entry for each start. */
  const starts: Readonly<Record<Kind, number>>[] = [];
  for (let at = 0; at < STARTS; at += 1) {
    const peers: [Kind, Peer][] = [];
    for (const kind of KINDS) peers.push([kind, await startWith(kind, at)]);
    for (const [, peer] of peers) await run(peer, WARM_UP_S);
    const used: Record<Kind, number[]> = { on: [], off: [], 'off again': [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [kind, peer] of [...peers.slice(round % 3), ...peers.slice(0, round % 3)])
        used[kind].push(await run(peer, SECONDS));
    }
    starts.push({ on: quiet(used.on), off: quiet(used.off), 'off again': quiet(used['off again']) });
    for (const [, { child }] of peers) await stopChild(child.process);
  }

  const profile = join(folder, 'profile');
  const profiled = await startWith('on', STARTS, profile);
  await run(profiled, WARM_UP_S);
  const since = process.hrtime.bigint();
  const used = (): readonly [all: number, writing: number] => [
    cpuMicros(profiled.pid) ?? Number.NaN,
    cpuMicrosOf(profiled.pid, WRITING_THREAD),
  ];
  const [allBefore, writingBefore] = used();
  await run(profiled, PROFILED_S);
  const [allAfter, writingAfter] = used();
  await stopChild(profiled.child.process, PROFILE_WRITTEN_WITHIN_MS);
  const [all, writing] = [allAfter - allBefore, writingAfter - writingBefore];
  const counting = shareOfThread(profile, (url) => OF_THE_LEDGER.test(url), since) * (all - writing);
  const share = (counting + writing) / all;
  const inPercent = (micros: number): string => `${((100 * micros) / all).toFixed(2)} %`;

  const ratio = (one: Kind, other: Kind): readonly number[] =>
    starts.map((start) => start[one] / start[other]);
  const against = [...ratio('on', 'off'), ...ratio('on', 'off again')];
  const micros = KINDS.map((kind) => median(starts.map((start) => start[kind])).toFixed(1));
  process.stdout.write(
    `the ledger's part of a gateway's work, by the profiler over ${PROFILED_S} s: ${inPercent(counting + writing)} (counting ${inPercent(counting)}, writing ${inPercent(writing)})   wanted: below ${100 * MAX} %\n` +
      `processor time per request of the quieter of ${ROUNDS} rounds, median of ${STARTS} starts [least to most]; ${where.said}\n` +
      `  ledger on / off   ${spread(against, 3)}\n` +
      `  off / off again   ${spread(ratio('off', 'off again'), 3)}   what two alike differ by\n` +
      `  here and now ${micros.join(' / ')} microseconds; every request is one of ${CONSUMERS} consumers' of a deprecated version\n`,
  );
  // Also fails if `share` is NaN.
  if (!(share < MAX)) process.exitCode = 1;
});

/** The lower quartile: other processes only add to the cost, so quiet rounds say more than the median. */
function quiet(used: readonly number[]): number {
  return used.toSorted((a, b) => a - b)[Math.floor(used.length / 4)] ?? Number.NaN;
}
