// npm run bench:compare <commit>: ratios of this tree to another commit, with this tree's bench and Node.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { plainDifferences, policyDifferences } from './agreement.ts';
import { installed, runProgram } from './children.ts';
import { type Ground, openGround, runBounded } from './ground.ts';
import { measureFull } from './measure.ts';
import { compileSundial, type Peer, startPeer } from './peers.ts';
import { memoryLines, outcomeLines } from './report.ts';
import { type Load, measureRounds, type Plan } from './rounds.ts';
import { benchRequests, SMALL } from './work.ts';

const ROOT = join(import.meta.dirname, '../..');
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false } },
});
const plan: Plan & { readonly memory: number } = options.quick
  ? { warmUp: 1, rounds: 1, full: 1, steady: 1, memory: 2 }
  : { warmUp: 5, rounds: 7, full: 4, steady: 3, memory: 60 };
const LONGEST_MINUTES = 20;

await runBounded(LONGEST_MINUTES, async (stack) => {
  const [wanted, ...more] = positionals;
  if (wanted === undefined || more.length > 0)
    throw new Error('which commit? For example: npm run bench:compare HEAD~1');
  const commit = git('rev-parse', '--short', '--verify', `${wanted}^{commit}`).trim();
  const other = await openTree(stack, commit);
  const ground = await openGround(stack);
  // A database for each: the trees may write different formats.
  const theirs = { root: other, environment: { BENCH_STORE: `${ground.environment.BENCH_STORE}/1` } };
  const pair = async (policy: 'policy' | 'plain'): Promise<readonly [Peer, Peer]> => [
    await startPeer(`sundial, ${policy}`, ground, { as: `this tree, ${policy}` }),
    await startPeer(`sundial, ${policy}`, ground, { as: `${commit}, ${policy}`, ...theirs }),
  ];
  await compileSundial(ground, { as: 'first start' });
  await compileSundial(ground, { as: `first start of ${commit}`, ...theirs });
  const [full, plain] = [await pair('policy'), await pair('plain')];
  await refuseDisagreement(ground, full, plain);

  const known = benchRequests(ground.tokens);
  const http1 = { protocol: 'http', answerOctets: SMALL, requests: () => known } as const;
  const http2 = { ...http1, protocol: 'h2' } as const;
  const h2load = installed('h2load') !== undefined;
  const loads: readonly Load[] = [
    { ...http1, title: 'Full policy, HTTP/1.1, known RS256 tokens: GET, 1 KiB answers', peers: full },
    { ...http1, title: 'No policy, HTTP/1.1: GET, 1 KiB answers', peers: plain },
    { ...http2, title: 'Full policy, HTTP/2 over TLS, one RS256 token: GET, 1 KiB answers', peers: full },
    { ...http2, title: 'No policy, HTTP/2 over TLS: GET, 1 KiB answers', peers: plain },
  ].filter(({ protocol }) => protocol === 'http' || h2load);
  say(`Node ${process.versions.node}, ${ground.where.said}; ${ground.upstream}`);
  if (!h2load) say('h2load is not installed: HTTP/2 is not measured');
  const outcomes = await measureRounds(ground, loads, plan, say);
  say(`\nRatios: median of ${plan.rounds} rounds [least to most]${options.quick ? ', a smoke test' : ''}`);
  for (const outcome of outcomes) say(outcomeLines(outcome).join('\n'));
  const work = { ...http1, requests: known };
  const resident = new Map<Peer, number | undefined>();
  for (const peer of [...full, ...plain]) {
    say(`${plan.memory} s of full load: ${peer.name}`);
    resident.set(peer, (await measureFull(ground, peer, work, { seconds: plan.memory })).resident);
  }
  const after = `after ${plan.memory} s of full load`;
  say(memoryLines([...full, ...plain], after, (peer) => resident.get(peer)).join('\n'));
});

/** Checks out the commit with its packages into a temporary folder. */
async function openTree(stack: AsyncDisposableStack, commit: string): Promise<string> {
  const parent = mkdtempSync(join(tmpdir(), 'sundial-compare-'));
  const tree = join(parent, commit);
  stack.defer(() => rmSync(parent, { recursive: true, force: true }));
  git('worktree', 'add', '--quiet', '--detach', tree, commit);
  stack.defer(() => void git('worktree', 'remove', '--force', tree));
  const lockOf = (root: string): string => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lockOf(tree) === lockOf(ROOT)) {
    // Hard links, except the compile cache, which the other tree would change.
    await runProgram(['cp', '-al', join(ROOT, 'node_modules'), join(tree, 'node_modules')]);
    rmSync(join(tree, 'node_modules/.cache'), { recursive: true, force: true });
    return tree;
  }
  say(`installing the packages of ${commit}`);
  // Both run with this tree's Node, so no package needs its install script.
  const install = [
    'npm',
    'ci',
    '--prefix',
    tree,
    '--omit=dev',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  ];
  await runProgram([...install, '--offline']).catch(() => runProgram(install));
  return tree;
}

/** @throws Error if the responses of the trees differ, because one of them may do less work */
async function refuseDisagreement(
  { tokens }: Ground,
  full: readonly [Peer, Peer],
  plain: readonly [Peer, Peer],
): Promise<void> {
  const [sample] = benchRequests(tokens);
  if (sample === undefined) throw new Error('there is nothing to ask');
  const found = [
    ...(await policyDifferences(...full, sample)),
    ...(await plainDifferences(...plain, sample, 'http')),
  ];
  if (found.length > 0) throw new Error(`the trees disagree:\n  ${found.join('\n  ')}`);
}

function git(...words: readonly string[]): string {
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
