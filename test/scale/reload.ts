// `npm run test:reload`: reloads ten thousand routes during requests. Needs an idle machine.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startGateway } from '../../gateway/gateway.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { policyText, type SetShape, SHAPES, writePolicySet } from './policy-set.ts';
import { type Turns, turnsDuring } from './turns.ts';

/**
 * Milliseconds: the start, the median reload of all files, and the longest request delay in a reload.
 * No promise covers ten thousand files, so the bounds of `manyApis` are measured values.
 */
const BARS = {
  manyOperations: { start: 5_000, reload: 7_000, stall: 50 },
  manyApis: { start: 15_000, reload: 30_000, stall: 1_000 },
} as const satisfies Record<keyof typeof SHAPES, object>;
/** MB of heap by which twenty reloads may grow. */
const MAX_GROWTH = 20;
const RELOADS = 20;
const COLLECTIONS = 5;
const COLLECT_EVERY_MS = 300;
const REQUEST_EVERY_MS = 4;

interface Reload extends Turns {
  readonly changed: number;
  readonly ms: number;
}

async function measure(name: keyof typeof SHAPES, shape: SetShape): Promise<readonly string[]> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sundial-scale-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const { configFile, policyFile } = await writePolicySet(folder, shape, echo.url);
  const begun = performance.now();
  const started = await startGateway({
    configFile,
    environment: { DATA: folder },
    cwd: folder,
    log: { write: () => undefined },
  });
  if (started.kind === 'rejected') throw new Error(started.problems[0]?.message);
  const { gateway } = started;
  stack.defer(gateway.close);
  const startMs = performance.now() - begun;
  say(`${name}: started in ${whole(startMs)} ms, ${rssMb()} MB`);

  const port = gateway.facts.listeners.http?.address.port ?? 0;
  let answered = 0;
  let lost = 0;
  const timer = setInterval(() => {
    const api = String(answered % shape.apis).padStart(5, '0');
    const options = {
      host: '127.0.0.1',
      port,
      path: `/api/v1/api-${api}`,
      headers: { host: 'api.example.com' },
    };
    request(options, (answer) => {
      if (answer.statusCode === 200) answered += 1;
      else lost += 1;
      answer.resume();
    })
      .on('error', () => {
        lost += 1;
      })
      .end();
  }, REQUEST_EVERY_MS);
  stack.defer(() => clearInterval(timer));

  const reloads: Reload[] = [];
  let settled = 0;
  for (let count = 0; count < RELOADS; count += 1) {
    // Every second reload changes all files, the others change one.
    const changed = count % 2 === 0 ? shape.apis : 1;
    for (let api = 0; api < changed; api += 1)
      await writeFile(policyFile(api), policyText(api, shape, echo.url, 2 + count));
    const from = performance.now();
    const turns = await turnsDuring(gateway.reload);
    const reload = { ...turns, changed, ms: performance.now() - from };
    reloads.push(reload);
    const held = `held up for ${whole(turns.longestWait)} ms, worked for ${whole(turns.longestWork)} ms at a time`;
    say(`  ${changed} changed: ${whole(reload.ms)} ms, ${held}, ${rssMb()} MB`);
    // The first reloads fill caches.
    if (count === 3) settled = await heapMb();
  }
  const growth = (await heapMb()) - settled;
  const stall = Math.max(...reloads.map(({ longestWait }) => longestWait));
  const full = median(reloads.filter(({ changed }) => changed === shape.apis).map(({ ms }) => ms));
  say(`  longest stall ${whole(stall)} ms, full reload ${whole(full)} ms, heap ${whole(growth)} MB more`);
  say(`  ${answered} requests answered, ${lost} lost`);
  const bars = BARS[name];
  return [
    ...(startMs > bars.start ? [`${name}: the start took longer than ${bars.start} ms`] : []),
    ...(full > bars.reload ? [`${name}: half of the full reloads took longer than ${bars.reload} ms`] : []),
    ...(stall > bars.stall ? [`${name}: requests were held up for more than ${bars.stall} ms`] : []),
    ...(growth > MAX_GROWTH ? [`${name}: the heap grew by more than ${MAX_GROWTH} MB`] : []),
    ...(lost > 0 ? [`${name}: ${lost} requests lost`] : []),
  ];
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The minimum after several collections: a plan stays in memory until its last request has ended. */
async function heapMb(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < COLLECTIONS; count += 1) {
    globalThis.gc?.();
    least = Math.min(least, process.memoryUsage().heapUsed / 1e6);
    await setTimeout(COLLECT_EVERY_MS);
  }
  return least;
}

function rssMb(): number {
  return whole(process.memoryUsage().rss / 1e6);
}

function whole(value: number): number {
  return Math.round(value);
}

const failures: string[] = [];
for (const name of ['manyOperations', 'manyApis'] as const)
  failures.push(...(await measure(name, SHAPES[name])));
for (const failure of failures) say(`FAILED ${failure}`);
process.exitCode = failures.length === 0 ? 0 : 1;
