// `npm run test:soak [-- --minutes 10 --store embedded|redis|both --workers 1 --clients 12]`: a soak test.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openClients } from './mixed/clients.ts';
import { startFaults } from './mixed/faults.ts';
import { type Fixture, openFixture } from './mixed/fixture.ts';
import { openProbe, type Probe, type Sample } from './mixed/probe.ts';
import { freshState } from './mixed/state.ts';
import { createTally } from './mixed/tally.ts';
import { BARS, judge } from './mixed/verdict.ts';

type Store = 'embedded' | 'redis';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    store: { type: 'string', default: 'both' },
    workers: { type: 'string', default: '1' },
    clients: { type: 'string', default: '12' },
  },
});
const minutes = Number(values.minutes);
const workers = Number(values.workers);
const clientCount = Number(values.clients);
const stores: readonly Store[] = (['embedded', 'redis'] as const).filter((store) =>
  ['both', store].includes(values.store),
);

/** Each sample costs the gateway a garbage collection. */
const SAMPLE_EVERY_MS = 5_000;
/** The first part of the traffic is not measured: caches fill and code is compiled. */
const WARM_UP_MS = 20_000;
/** After this time the gateway has closed idle connections, unfinished handshakes and ejected targets. */
const RESTS_MS = 15_000;
const SETTLES_WITHIN_MS = 60_000;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const COLUMNS = ['at s', 'heap MB', 'ext MB', 'rss MB', 'fds', 'timers', 'p99 ms', 'max ms', 'series'];

function row({ at, heap, external, rss, fds, resources, lag, series }: Sample): string {
  const cells = [at, heap, external, rss, fds, resources.Timeout ?? 0, lag.p99, lag.longest, series];
  return cells.map((value) => String(Math.round(value * 10) / 10).padStart(9)).join('');
}

/** A sample without traffic: as soon as nothing more is open than in `like`, or when the time is over. */
async function settled(probe: Probe, like: Sample | undefined): Promise<Sample> {
  const until = performance.now() + (like === undefined ? RESTS_MS : SETTLES_WITHIN_MS);
  for (;;) {
    await pause(3_000);
    const sample = await probe.sample(0);
    const most = like === undefined ? 0 : like.fds + BARS.fdsLeft;
    if (sample.fds <= most || performance.now() > until) return sample;
  }
}

async function measure(fixture: Fixture, probe: Probe): Promise<readonly string[]> {
  const state = freshState();
  const tally = createTally();
  {
    await using clients = openClients(fixture, state, tally);
    // Resources made at first use and kept are not leaks.
    await clients.tryAll();
  }
  const before = await settled(probe, undefined);

  const samples: Sample[] = [];
  const lag = monitorEventLoopDelay({ resolution: 10 });
  lag.enable();
  const faults = startFaults(fixture, state);
  {
    await using clients = openClients(fixture, state, tally);
    const running = clients.run(clientCount);
    await pause(WARM_UP_MS);
    const from = performance.now();
    while (performance.now() - from < minutes * 60_000) {
      await pause(SAMPLE_EVERY_MS);
      state.familiar = performance.now() - from > minutes * 30_000;
      const sample = await probe.sample((performance.now() - from) / 1_000);
      samples.push(sample);
      if (samples.length % 4 === 0) say(row(sample));
    }
    lag.disable();
    state.stopping = true;
    await Promise.all([running, faults.ended]);
  }
  const after = await settled(probe, before);
  say(`${row(before)}  before the traffic`);
  say(`${row(after)}  after the traffic`);
  for (const line of tally.table()) say(line);
  for (const [fault, count] of Object.entries(faults.counts))
    say(`  ${fault.padEnd(26)}${String(count).padStart(8)}`);
  say(`  recovered at most ${faults.recovery().toFixed(1)} s after a fault`);
  return [...judge(samples, before, after, lag.percentile(99) / 1e6), ...tally.wrong(), ...faults.wrong];
}

/** One sentence per violation. */
async function soak(store: Store): Promise<readonly string[]> {
  say(
    `${minutes} minutes on the ${store} store, ${workers} worker${workers === 1 ? '' : 's'}, ${clientCount} clients`,
  );
  say(COLUMNS.map((name) => name.padStart(9)).join(''));
  await using fixture = await openFixture({ store, workers });
  let wrong: readonly string[];
  {
    using probe = await openProbe(fixture.gateway.pid, fixture.gateway.inspector, fixture.gateway.admin);
    wrong = await measure(fixture, probe);
  }
  const exit = await fixture.gateway.stop();
  for (const line of await fixture.errorLines()) say(`  log: ${line}`);
  return exit === 0 ? wrong : [...wrong, `the gateway ended with ${exit}`];
}

// A child ends when this process exits, so an interrupted run leaves no process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const failures: string[] = [];
for (const store of stores) failures.push(...(await soak(store)).map((sentence) => `${store}: ${sentence}`));
for (const failure of failures) say(`FAILED ${failure}`);
process.exitCode = failures.length === 0 ? 0 : 1;
