// npm run bench: ratios of Sundial to other proxies under equal loads. Fails only for wrong responses.
import { parseArgs } from 'node:util';
import { plainDifferences, policyDifferences } from './agreement.ts';
import { installed } from './children.ts';
import { type Ground, openGround, runBounded } from './ground.ts';
import { idleLines } from './idle.ts';
import { allLoads, FULL_POLICY, mainLoads, NO_POLICY_LOAD, UNUSUAL_LOAD } from './loads.ts';
import type { Full } from './measure.ts';
import { compileSundial, isInstalled, PEERS, type Peer, type PeerName, startPeer } from './peers.ts';
import { acrossLine, memoryLines, outcomeLines } from './report.ts';
import { type Load, type Measured, measureRounds, type Outcome, type Plan } from './rounds.ts';
import { CONNECTIONS, CONSUMERS } from './work.ts';

const { values: options } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    /** One short round: checks that everything works and measures nothing. */
    quick: { type: 'boolean', default: false },
    /** Folder for CPU profiles of Sundial. Profiling takes time, so the ratios then mean little. */
    profile: { type: 'string' },
  },
});
const QUICK: Plan = { warmUp: 1, rounds: 1, full: 1, steady: 1 };
const plan: Plan = options.quick
  ? QUICK
  : options.all
    ? { warmUp: 10, rounds: 3, full: 4, steady: 3 }
    : { warmUp: 30, rounds: 7, full: 4, steady: 3 };
const LONGEST_MINUTES = options.all ? 60 : 25;

await runBounded(LONGEST_MINUTES, async (stack) => {
  const ground = await openGround(stack);
  say(conditions(ground).join('\n'));
  const planned = options.all ? await allLoads(ground, plan.rounds, options.quick) : mainLoads(ground);
  const wanted = [...new Set(planned.flatMap(({ peers }) => peers))];
  await compileSundial(ground, { as: 'first start' });
  const peers = new Map<PeerName, Peer>();
  for (const name of wanted.filter(isInstalled))
    peers.set(name, await startPeer(name, ground, { profile: options.profile }));
  const started = (names: readonly PeerName[]) => names.flatMap((name) => peers.get(name) ?? []);
  const loads = planned.map((load): Load => ({ ...load, peers: started(load.peers) }));
  for (const load of loads) await refuseDisagreement(load);

  const outcomes = await measureRounds(ground, loads, plan, say);
  say(`\nRatios: median of ${plan.rounds} rounds [least to most]`);
  for (const outcome of outcomes) say(outcomeLines(outcome).join('\n'));
  say(acrossLines(outcomes).join('\n'));
  const readings = outcomes.flatMap(({ measured }) => measured);
  const residentOf = ({ resident }: Full): number => resident ?? Number.NaN;
  const most = (peer: Peer): number =>
    Math.max(...readings.filter((each) => each.peer === peer).flatMap(({ full }) => full.map(residentOf)));
  say(memoryLines([...peers.values()], 'most after a load', most).join('\n'));
  if (options.all) {
    const plain = [...peers.keys()].filter((name) => !PEERS[name].policy);
    say((await idleLines(plain, ground, options.quick ? 200 : 5_000)).join('\n'));
  }
});

/** @throws Error if two peers of a load respond differently */
async function refuseDisagreement({ title, peers, protocol, requests }: Load): Promise<void> {
  const [own, ...others] = peers;
  const [sample] = requests(0);
  if (own === undefined || sample === undefined) throw new Error(`${title}: nothing to compare`);
  const scheme = protocol === 'http' ? 'http' : 'https';
  const side = ({ name, port, httpsPort }: Peer) => ({ name, port: scheme === 'http' ? port : httpsPort });
  for (const other of others) {
    const differences =
      own.headers.always.length > 0
        ? await policyDifferences(side(own), side(other), sample)
        : await plainDifferences(side(own), side(other), sample, scheme);
    if (differences.length > 0)
      throw new Error(`${title}: the peers disagree:\n  ${differences.join('\n  ')}`);
  }
}

/** Ratios of one load to another: the cost of the policy, and of requests in an unusual form. */
function acrossLines(outcomes: readonly Outcome[]): readonly string[] {
  const [policy, plain, unusual] = [FULL_POLICY, NO_POLICY_LOAD, UNUSUAL_LOAD].map(
    (title) => outcomes.find(({ load }) => load.title === title)?.measured,
  );
  const against = (title: string, own: Measured | undefined, others: readonly Measured[]) =>
    own === undefined || others.length === 0
      ? []
      : [
          ...['', `${title} (requests/s: higher, CPU/request: lower)`],
          ...others.map((other) => acrossLine(`${own.peer.name} / ${other.peer.name}`, own, other)),
        ];
  return [
    ...against('Full policy against proxies without any policy', policy?.[0], plain ?? []),
    ...against(
      'One request in 1,000 in an unusual form against none',
      unusual?.[0],
      plain?.slice(0, 1) ?? [],
    ),
  ];
}

function conditions({ where, upstream }: Ground): readonly string[] {
  const missing = (Object.keys(PEERS) as PeerName[]).filter(
    (name) => !isInstalled(name) && (options.all || name !== 'caddy'),
  );
  const tools = ['wrk', ...(options.all ? ['h2load'] : [])].filter((name) => installed(name) === undefined);
  return [
    'Conditions',
    `  Node ${process.versions.node}, ${where.said}; ${upstream}`,
    `  ${CONNECTIONS} keep-alive connections on 127.0.0.1; every peer has one process or worker on the proxies' core`,
    `  full load by ${tools.includes('wrk') ? 'autocannon, since wrk is not installed' : 'wrk'}; steady rate: 60 % of what the slowest peer of a load answers`,
    '  full policy: path version, deprecated with all its headers, JWT, guard per address, rate limit by consumer with quota',
    `  headers, request id, access log in a file. ${CONSUMERS} consumers with one token each. Sundial keeps verdicts on tokens and leases`,
    '  units from Redis; conventional verifies each token and asks Redis each time; haproxy verifies each token, counts in a',
    '  stick table. Statuses, bodies and policy headers are the same: checked before, and at the steady rate on every answer',
    '  unusual form: a field value with a tab, which the fast plane of Sundial hands over to the parser of Node with its connection',
    '  no policy: Sundial keeps its metrics and access log; the other peers have neither',
    ...(missing.length === 0 ? [] : [`  not installed, so not measured: ${missing.join('; ')}`]),
    ...(tools.includes('h2load') ? ['  h2load is not installed: HTTP/2 is not measured'] : []),
    ...(options.quick ? ['  --quick: one short round, a smoke test and not a measurement'] : []),
    ...(options.profile === undefined
      ? []
      : ['  --profile: Sundial runs under the profiler, so the ratios mean little']),
  ];
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
