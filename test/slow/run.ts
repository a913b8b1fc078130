// `npm run test:slow [-- <part of a name>]`: slow clients. Exit code 1: a promise is broken, 2: a skip.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { installed } from '../bench/children.ts';
import { startProcess } from '../support/gateway-process.ts';
import { overHttp1 } from '../support/http-client.ts';
import { type Attack, attacks } from './attacks.ts';
import { measureStalledReaders } from './stalled-readers.ts';

const LONGEST_RUN_MS = 240_000;
const PROBE_EVERY_MS = 50;
/** Requests before the first measurement, because a new heap grows under any load. */
const WARM_UP = 10_000;
const SIDE_BY_SIDE = 100;
/** The bound `headers` and the window of `body_rate` are 10 s. A second later, all connections are closed. */
const GONE_AFTER_MS = 11_000;
const MAX_GROWTH_MB = 50;
const STALLED = 'stalled readers';
const MAX_STALLED_KB = 256;
/** Descriptors of TLS tickets, timers and the probe. */
const FDS_OFF_BY = 8;

/** Probes before each attack, for comparison. */
const CALM_PROBES = 40;

interface Measured {
  readonly name: string;
  readonly calmP99Ms: number;
  readonly probes: number;
  readonly p99Ms: number;
  readonly mostFds: number;
  readonly fdsOver: number;
  readonly growthMb: number;
  readonly refusedProbes: number;
}

const fdsOf = async (pid: number): Promise<number> => (await readdir(`/proc/${pid}/fd`)).length;

async function rssOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const p99Of = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;

async function measure({ name, run }: Attack, pid: number, https: number): Promise<Measured> {
  const [fds, rss] = [await fdsOf(pid), await rssOf(pid)];
  await using probe = overHttp1(https);
  async function probed(): Promise<{ readonly ms: number; readonly status: number }> {
    const sentAt = performance.now();
    const { status } = await probe.ask({ path: '/api/slow' });
    const ms = performance.now() - sentAt;
    await sleep(PROBE_EVERY_MS);
    return { ms, status };
  }
  const calm: number[] = [];
  while (calm.length < CALM_PROBES) calm.push((await probed()).ms);
  const times: number[] = [];
  let [mostFds, mostRss, refusedProbes, over] = [fds, rss, 0, false];
  const attacked = run(https).then(() => {
    over = true;
  });
  while (!over) {
    const { ms, status } = await probed();
    times.push(ms);
    if (status !== 200) refusedProbes += 1;
    mostFds = Math.max(mostFds, await fdsOf(pid));
    mostRss = Math.max(mostRss, await rssOf(pid));
  }
  await attacked;
  const goneBy = performance.now() + GONE_AFTER_MS;
  while ((await fdsOf(pid)) > fds + FDS_OFF_BY && performance.now() < goneBy) await sleep(100);
  const fdsOver = Math.max(0, (await fdsOf(pid)) - fds);
  return {
    name,
    calmP99Ms: p99Of(calm),
    probes: times.length,
    p99Ms: p99Of(times),
    mostFds,
    fdsOver,
    growthMb: mostRss - rss,
    refusedProbes,
  };
}

setTimeout(() => {
  process.stderr.write(`not finished after ${LONGEST_RUN_MS / 1000} s\n`);
  process.exit(1);
}, LONGEST_RUN_MS).unref();

await using stack = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'sundial-slow-'));
stack.defer(() => rm(folder, { recursive: true, force: true }));
const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
const gateway = stack.use(
  startProcess(['run', '-c', 'test/slow/gateway.yaml'], {
    DATA: join(folder, 'data'),
    STORE: `embedded:${join(folder, 'data')}`,
    ECHO: echo.url,
    UPSTREAM: echo.url,
    POLICIES: join(import.meta.dirname, '../journeys/drain/slow.yaml'),
  }),
);
const { https, admin } = await gateway.ready;
await using warm = overHttp1(https);
for (let count = 0; count < WARM_UP; count += SIDE_BY_SIDE)
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => warm.ask({ path: '/api/slow' })));

let [broken, leftOut] = [0, 0];
const wanted = process.argv[2] ?? '';
for (const attack of attacks.filter(({ name }) => name.includes(wanted))) {
  const { program } = attack;
  if (program !== undefined && installed(program) === undefined) {
    leftOut += 1;
    process.stdout.write(
      `skipped ${attack.name}: ${program} is not installed. On Debian: apt-get install ${program}\n`,
    );
    continue;
  }
  const seen = await measure(attack, gateway.pid, https);
  const { mostP99Ms } = attack;
  const kept =
    (mostP99Ms === undefined || seen.p99Ms < mostP99Ms) &&
    seen.refusedProbes === 0 &&
    seen.fdsOver <= FDS_OFF_BY &&
    seen.growthMb <= MAX_GROWTH_MB;
  if (!kept) broken += 1;
  process.stdout.write(
    `${kept ? 'kept  ' : 'BROKEN'} ${seen.name}: probe p99 ${seen.p99Ms.toFixed(1)} ms of ${seen.probes} (${mostP99Ms === undefined ? '' : `< ${mostP99Ms}; `}${seen.calmP99Ms.toFixed(1)} ms before), ` +
      `${seen.refusedProbes} not 200, descriptors ${seen.mostFds} at most and ${seen.fdsOver} over at the end, ` +
      `memory +${seen.growthMb.toFixed(0)} MB (<= ${MAX_GROWTH_MB})\n`,
  );
}
if (STALLED.includes(wanted)) {
  const { eachKb, withStartKb } = await measureStalledReaders(join(folder, 'stalled'), rssOf);
  const kept = eachKb <= MAX_STALLED_KB;
  if (!kept) broken += 1;
  process.stdout.write(
    `${kept ? 'kept  ' : 'BROKEN'} ${STALLED}: ${eachKb.toFixed(0)} KB each (<= ${MAX_STALLED_KB}), ` +
      `${withStartKb.toFixed(0)} KB with what a new process allocates once\n`,
  );
}
await using operator = overHttp1(admin, { tls: false });
const { text } = await operator.ask({ path: '/metrics' });
for (const line of text.split('\n'))
  if (/^sundial_bounds_refused_total\{.*\} [1-9]/.test(line)) process.stdout.write(`       ${line}\n`);
if (broken > 0) process.exitCode = 1;
else if (leftOut > 0) process.exitCode = 2;
