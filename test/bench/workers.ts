// npm run bench:workers: Sundial with two workers against one. Load and upstream use the same cores.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { openGround, runBounded } from './ground.ts';
import { startPeer } from './peers.ts';
import { outcomeLines } from './report.ts';
import { measureRounds } from './rounds.ts';
import { benchRequests, SMALL } from './work.ts';

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const plan = options.quick
  ? { warmUp: 1, rounds: 1, full: 1, steady: 1 }
  : { warmUp: 4, rounds: 6, full: 4, steady: 3 };
const LONGEST_MINUTES = 5;

await runBounded(LONGEST_MINUTES, async (stack) => {
  const ground = await openGround(stack, { pinned: false });
  const start = (workers: number, as: string) =>
    startPeer('sundial, policy', ground, { as, environment: { BENCH_WORKERS: String(workers) } });
  const load = {
    title: `Full policy, known RS256 tokens; ${availableParallelism()} processors shared with load and upstream`,
    ...({ protocol: 'http', answerOctets: SMALL } as const),
    requests: () => benchRequests(ground.tokens),
    peers: [await start(2, 'two workers'), await start(1, 'one worker')],
  };
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  for (const outcome of await measureRounds(ground, [load], plan, say)) say(outcomeLines(outcome).join('\n'));
});
