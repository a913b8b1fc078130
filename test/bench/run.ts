// npm run bench: the same load against Sundial, the conventional composition and a plain proxy, interleaved in one run.
// Prints ratios; ends with 0 when every answer was right and with 1 otherwise. It asserts no time.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startRedis } from '../support/redis-server.ts';
import { disagreements } from './agreement.ts';
import { startChild, stopChildren } from './children.ts';
import { startIssuer } from './issuer.ts';
import { type Measurement, measure } from './measure.ts';
import { PEERS, type Peer, type PeerName, startPeer } from './peers.ts';
import { placement } from './processor.ts';
import { type Round, report } from './report.ts';
import { benchRequests, CONNECTIONS, CONSUMERS } from './work.ts';

const LONGEST_RUN_MS = 175_000;

/** A machine that keeps Redis from answering in time now and then is still good for a ratio; more often it is not. */
const QUOTA_SLACK = 0.05;

const { values: options } = parseArgs({
  options: {
    /** One short round: shows that everything works, measures nothing. */
    quick: { type: 'boolean', default: false },
    /** Folder for a processor profile of Sundial; the profile costs time, so the ratios then mean little. */
    profile: { type: 'string' },
  },
});
const plan = options.quick ? { warmUp: 1, rounds: 1, seconds: 2 } : { warmUp: 4, rounds: 5, seconds: 4 };

const where = placement();
const folder = mkdtempSync(join(tmpdir(), 'sundial-bench-'));
// Children first, so that none of them complains about what goes away after it.
const cleanups: (() => unknown)[] = [stopChildren, () => rmSync(folder, { recursive: true, force: true })];

async function bench(): Promise<void> {
  where.moveToRest(process.pid);
  const redis = await startRedis();
  cleanups.push(() => redis.stop());
  where.moveToRest(redis.pid);
  const issuer = await startIssuer();
  cleanups.push(issuer.stop);
  const requests = benchRequests(await issuer.tokens(CONSUMERS));
  const [sample] = requests;
  if (sample === undefined) throw new Error('there is nothing to ask');

  const aside = { environment: {}, prefix: where.rest, output: 'inherit', announces: true } as const;
  const upstream = await startChild([join(import.meta.dirname, 'upstream.ts')], aside);
  const load = await startChild([join(import.meta.dirname, 'load.ts')], aside);
  const environment = {
    BENCH_UPSTREAM: `http://127.0.0.1:${upstream.port}`,
    BENCH_ISSUER: issuer.issuer,
    BENCH_REDIS: redis.url,
  };
  const started = PEERS.map((name) =>
    startPeer(name, { environment, prefix: where.proxy, folder, sample, profile: options.profile }),
  );
  const [sundial, conventional, plain] = (await Promise.all(started)) as [Peer, Peer, Peer];
  const peers: Readonly<Record<PeerName, Peer>> = { sundial, conventional, plain };

  const differences = await disagreements(
    ['sundial', 'conventional'],
    [sundial.port, conventional.port],
    sample,
  );
  if (differences.length > 0) throw new Error(`the peers disagree:\n  ${differences.join('\n  ')}`);

  for (const name of PEERS) {
    say(`warming ${name} for ${plan.warmUp} s`);
    // Cold code holds the event loop for longer than Redis is waited for.
    await measure(load.process, peers[name], requests, { seconds: plan.warmUp, quotaSlack: 1 });
  }
  const measured = { seconds: plan.seconds, quotaSlack: QUOTA_SLACK };
  const rounds: Round[] = [];
  for (let at = 0; at < plan.rounds; at += 1) {
    const order = PEERS.map((_name, position) => PEERS[(position + at) % PEERS.length] ?? 'sundial');
    say(`round ${at + 1} of ${plan.rounds}: ${order.join(', ')}, ${plan.seconds} s each`);
    const round: Partial<Record<PeerName, Measurement>> = {};
    for (const name of order) round[name] = await measure(load.process, peers[name], requests, measured);
    rounds.push(round as Round);
  }
  process.stdout.write(report(rounds, conditions()));
}

function conditions(): readonly string[] {
  return [
    `Node ${process.versions.node}, ${where.said}`,
    `${CONNECTIONS} keep-alive connections of plain HTTP on 127.0.0.1; GET, 1 KiB of JSON from one shared upstream`,
    `${CONSUMERS} consumers with one RS256 token each, sent again and again: Sundial's token cache is warm`,
    'Sundial and conventional: path version, deprecated with all its headers, JWT by JWKS, per-address guard,',
    '  rate limit in Redis (60,000 a minute and consumer; Sundial by leases, conventional a call per request), metrics,',
    '  one access-log line per request written to a file. Same statuses, bodies and policy headers: checked',
    'plain: @fastify/http-proxy with no policy and no log',
    ...(options.quick ? ['--quick: one short round, a smoke test and not a measurement'] : []),
    ...(options.profile === undefined
      ? []
      : ['--profile: Sundial ran under the profiler, the ratios mean little']),
  ];
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

let cleaning: Promise<void> | undefined;

/** Undoes what was started; a second call waits for the first. */
function cleanUp(): Promise<void> {
  cleaning ??= (async () => {
    for (const undo of cleanups) await undo();
  })();
  return cleaning;
}

async function end(code: number, reason?: string): Promise<void> {
  if (reason !== undefined) process.stderr.write(`bench: ${reason}\n`);
  process.exitCode = code;
  await cleanUp();
  process.exit();
}

process.once('SIGINT', () => void end(130));
process.once('SIGTERM', () => void end(143));
setTimeout(() => void end(1, `not finished after ${LONGEST_RUN_MS / 1000} s`), LONGEST_RUN_MS).unref();
bench().then(
  () => end(0),
  (error: unknown) => end(1, error instanceof Error ? error.message : String(error)),
);
