// Tests the thread of a reload: it delivers its results, and its end or timeout fails one reload only.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkContextOf } from '../../gateway/plan/check/views.ts';
import type { PolicyReader } from '../../gateway/plan/loader-thread/reader-contract.ts';
import { createThreadReader, THREAD_BOUNDS } from '../../gateway/plan/loader-thread/thread-reader.ts';
import { NOW, ORDERS, type Workspace, workspace } from './workspace.ts';

type Reader = PolicyReader & AsyncDisposable;

/** `body` replaces the code of the thread. */
async function readerOf(files: Workspace, body?: string, bounds = THREAD_BOUNDS): Promise<Reader> {
  const { settings } = await files.load();
  if (settings === undefined) throw new Error('the files are not in order');
  const module = join(files.folder, 'thread.mjs');
  await writeFile(module, `import { parentPort } from 'node:worker_threads';\n${body}`);
  const start = {
    configFile: files.configFile,
    settingsRevision: settings.revision,
    patterns: settings.policies,
    checkContext: checkContextOf(settings),
    environment: {},
    cwd: files.folder,
  };
  const reader =
    body === undefined
      ? createThreadReader(start, bounds)
      : createThreadReader(start, bounds, pathToFileURL(module));
  return { ...reader, [Symbol.asyncDispose]: reader.close };
}

const twoFiles = () =>
  workspace({
    'policies/orders.yaml': ORDERS,
    'policies/other.yaml': ORDERS.replaceAll('orders', 'other'),
  });

/** The nice value of each thread: field 19 of its stat line, whose second field is a name in brackets. */
async function nicenesses(): Promise<readonly number[]> {
  const threads = await readdir('/proc/self/task');
  const lines = await Promise.all(threads.map((id) => readFile(`/proc/self/task/${id}/stat`, 'utf8')));
  return lines.map((line) => Number(line.slice(line.lastIndexOf(')') + 2).split(' ')[16]));
}

describe('the thread of a reload', () => {
  it.runIf(process.platform === 'linux')('has a lower priority than the main thread', async () => {
    await using files = await twoFiles();
    const own = getPriority();
    await using reader = await readerOf(files);
    await reader.read(NOW);
    expect(await nicenesses()).toContain(Math.min(19, own + 5));
    expect(getPriority()).toBe(own);
  });

  it('finds what the gateway found at start, and delivers the parts of the plan', async () => {
    await using files = await twoFiles();
    const { plan, sources, pieces } = await files.load();
    await using reader = await readerOf(files);
    const summary = await reader.read(NOW);
    expect(summary).toMatchObject({ revision: plan?.revision, problems: 0, restartNeeded: false });
    expect(summary.digests).toEqual(pieces?.map(({ digest }) => digest));
    const read = await reader.pieces(summary.digests);
    expect(read.map(({ file }) => file)).toEqual(sources?.policies.map(({ file }) => file));
    expect(read.flatMap((piece) => piece.files)).toEqual(pieces?.flatMap((piece) => piece.files));
  });

  it('reads a file again when it changed, or when a date in it has passed', async () => {
    await using files = await workspace({
      'policies/orders.yaml': ORDERS.replace('  v1: { targets: [http://127.0.0.1:4001] }\n', ''),
    });
    await files.write('policies/orders.yaml', ORDERS);
    await using reader = await readerOf(files);
    expect((await reader.read(NOW)).problems).toBe(0);
    await files.write(
      'policies/orders.yaml',
      ORDERS.replace('  v1: { targets: [http://127.0.0.1:4001] }\n', ''),
    );
    expect((await reader.read(NOW)).revision).toBeUndefined();
    expect((await reader.problems(0, 9)).map(({ message }) => message)).toEqual([
      'v1 has no upstream and its sunset has not passed',
    ]);
    expect((await reader.read(Date.UTC(2027, 0, 15))).problems).toBe(0);
    expect((await reader.read(NOW)).problems).toBe(1);
  });

  it.each([
    [
      'a release',
      ORDERS.replace('v2: { released: 2026-01-15', 'v2: { released: 2026-12-01'),
      'v2 is released on',
    ],
    [
      'the end of a maintenance',
      ORDERS.replace('base:', 'maintenance: 2026-12-01\nbase:'),
      'this maintenance ended',
    ],
  ])('reads a file again after %s', async (_name, text, message) => {
    await using files = await workspace({ 'policies/orders.yaml': text });
    await using reader = await readerOf(files);
    const isSaid = async (now: number) => {
      await reader.read(now);
      return (await reader.problems(0, 9)).some((problem) => problem.message.startsWith(message));
    };
    expect(await isSaid(NOW)).not.toBe(await isSaid(Date.UTC(2026, 11, 1)));
  });

  it('reports duplicate claims of two files, even if neither was parsed again', async () => {
    await using files = await twoFiles();
    await using reader = await readerOf(files);
    await reader.read(NOW);
    await files.write('policies/third.yaml', ORDERS);
    for (const _time of [1, 2]) {
      await reader.read(NOW);
      const [first] = await reader.problems(0, 9);
      expect(first).toMatchObject({ file: 'policies/third.yaml', line: 1, rule: 'duplicate' });
    }
  });

  it.each([
    ['ends', `parentPort.on('message', () => process.exit(1));`, 'has ended'],
    ['throws', `parentPort.on('message', () => { throw new RangeError('a mistake'); });`, 'a mistake'],
    ['cannot start', `throw new RangeError('no start');`, 'no start'],
  ])('a thread that %s fails the reload', async (_name, body, message) => {
    await using files = await twoFiles();
    await using reader = await readerOf(files, body);
    await expect(reader.read(NOW)).rejects.toThrow(message);
  });

  it('a thread that does not answer is ended, and the next call starts another', async () => {
    await using files = await twoFiles();
    const silent = `for (;;) {}`;
    await using reader = await readerOf(files, silent, { answerMs: 50, idleMs: 1_000 });
    await expect(reader.read(NOW)).rejects.toThrow('took longer than 0.05 s');
    await expect(reader.read(NOW)).rejects.toThrow('took longer than 0.05 s');
  });

  it('ends some time after a load, and starts again with the next call', async () => {
    await using files = await twoFiles();
    await using reader = await readerOf(files, undefined, { answerMs: 60_000, idleMs: 0 });
    const { digests } = await reader.read(NOW);
    reader.endLoad();
    // Timers of the same delay fire in order.
    await setTimeout(1);
    expect(await reader.pieces(digests)).toEqual([]);
    expect((await reader.read(NOW)).digests).toEqual(digests);
  });

  it('keeps its results until the load is over, even if that takes long', async () => {
    await using files = await twoFiles();
    await using reader = await readerOf(files, undefined, { answerMs: 60_000, idleMs: 0 });
    const { digests } = await reader.read(NOW);
    await setTimeout(1);
    expect(await reader.pieces(digests)).toHaveLength(2);
    reader.endLoad();
    const { digests: again } = await reader.read(NOW);
    await setTimeout(1);
    expect(await reader.pieces(again)).toHaveLength(2);
  });
});
