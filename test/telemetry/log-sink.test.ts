// The log sink on real files and pipes: batches, bounds and the end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogSink } from '../../gateway/telemetry/logs/log-sink.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sundial-log-'));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

describe('a log sink', () => {
  it('writes a batch after 200 ms, or at 64 KiB', () => {
    vi.useFakeTimers();
    const batches: string[] = [];
    const sink = createLogSink({ write: (text) => batches.push(text) });
    sink.append('one');
    sink.append('two');
    vi.advanceTimersByTime(199);
    expect(batches).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(batches).toEqual(['one\ntwo\n']);
    sink.append('x'.repeat(64 * 1024));
    expect(batches).toHaveLength(2);
  });

  it('has appended every line to the file, in order, once it is closed', async () => {
    const path = join(folder, 'access.log');
    const lines = Array.from(
      { length: 5000 },
      (_, index) => `{"line":${index},"filler":"${'x'.repeat(100)}"}`,
    );
    for (const half of [lines.slice(0, 2500), lines.slice(2500)]) {
      const sink = createLogSink(path);
      for (const line of half) sink.append(line);
      await sink.close();
      expect(sink.dropped()).toBe(0);
    }
    expect(readFileSync(path, 'utf8')).toBe(`${lines.join('\n')}\n`);
  });

  it('continues at the start of a file that logrotate has truncated', async () => {
    const path = join(folder, 'rotated.log');
    const sink = createLogSink(path);
    sink.append('before');
    sink.flush();
    await vi.waitFor(() => expect(readFileSync(path, 'utf8')).toBe('before\n'), { interval: 5 });
    truncateSync(path);
    sink.append('after');
    await sink.close();
    expect(readFileSync(path, 'utf8')).toBe('after\n');
  });

  it('can be closed without any line, and twice', async () => {
    const sink = createLogSink(join(folder, 'empty.log'));
    await sink.close();
    await expect(sink.close()).resolves.toBeUndefined();
  });

  it('counts lines after its end as dropped', async () => {
    const sink = createLogSink(join(folder, 'late.log'));
    await sink.close();
    sink.append('late');
    expect(sink.dropped()).toBe(1);
  });

  it('throws at the start if the file cannot be opened', () => {
    expect(() => createLogSink(join(folder, 'missing', 'access.log'))).toThrow('ENOENT');
  });

  it('buffers a bounded amount for a stopped reader, counts the rest, and still closes', async () => {
    // The child never reads its input, so the pipe fills and stays full.
    const reader = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    try {
      const sink = createLogSink(descriptorOf(reader.stdin));
      const line = 'x'.repeat(1023);
      for (let count = 0; count < 10 * 1024; count += 1) sink.append(line);
      expect(sink.dropped()).toBeGreaterThan(1024);
      expect(sink.dropped()).toBeLessThan(3 * 1024);
      await sink.close();
    } finally {
      reader.kill('SIGKILL');
    }
  });
});

describe('a process whose log reader has stopped', () => {
  const SINK = new URL('../../gateway/telemetry/logs/log-sink.ts', import.meta.url).href;
  /** Reads `process.stdout`, as `sundial run` does. That makes writes to standard output non-blocking. */
  function run(destinations: readonly string[], code: string) {
    const program = `
      import { createLogSink } from ${JSON.stringify(SINK)};
      process.stdout.on('error', () => undefined);
      const sinks = [${destinations}].map((destination) => createLogSink(destination));
      const fill = (sink) => {
        for (let count = 0; count < 4096; count += 1) sink.append('x'.repeat(1023));
        sink.flush();
      };
      sinks.forEach(fill);
      ${code}`;
    return spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  it.each([
    ['once its logs are closed', 'await Promise.all(sinks.map((sink) => sink.close()));'],
    ['at once without closing its logs', ''],
  ])('ends %s, although a reader has stopped and a disk is full', async (_when, end) => {
    const child = run(['1', "'/dev/full'"], `setTimeout(async () => { ${end} process.exit(7); }, 100);`);
    const given = setTimeout(() => child.kill('SIGKILL'), 20_000);
    const ended = await once(child, 'exit');
    clearTimeout(given);
    expect(ended).toEqual([7, null]);
  });

  it.runIf(process.platform === 'linux')('does not block after it has forked a worker', async () => {
    const fork = new URL('../../gateway/server/workers/fork.ts', import.meta.url).href;
    const entry = pathToFileURL(join(folder, 'worker.mjs'));
    writeFileSync(entry, 'process.stderr.write("last words of a worker"); process.stdout.write("lost");');
    const code = `
      const { forkWorker } = await import(${JSON.stringify(fork)});
      const worker = forkWorker(new URL(${JSON.stringify(entry.href)}), {}, []);
      const how = await worker.ended;
      const { readFileSync } = await import('node:fs');
      const flags = /flags:\\s*(\\d+)/.exec(readFileSync('/proc/self/fdinfo/1', 'utf8'))[1];
      const waits = (Number.parseInt(flags, 8) & 0o4000) === 0;
      setTimeout(() => process.stderr.write(JSON.stringify({ how, waits }), () => process.exit(0)), 20);`;
    const child = run([], code);
    const said = await text(child.stderr);
    expect(said).toContain('last words of a worker');
    expect(said).toContain('{"how":"exit code 0","waits":false}');
  });

  it('counts the lines that are lost with its reader, and all later lines', async () => {
    const code = `
      const look = setInterval(() => {
        if (sinks[0].dropped() === 0) return;
        clearInterval(look);
        const first = sinks[0].dropped();
        fill(sinks[0]);
        process.stderr.write(JSON.stringify([first, sinks[0].dropped() - first]), () => process.exit(0));
      }, 10);`;
    const child = run(['1'], code);
    await once(child.stdout, 'readable');
    child.stdout.destroy();
    const [first, then] = JSON.parse(await text(child.stderr));
    // Octets that the system or the reader had already accepted cannot be counted.
    expect(first).toBeGreaterThan(3 * 1024);
    expect(first).toBeLessThanOrEqual(4096);
    expect(then).toBe(4096);
  });
});

/** The file descriptor of a child's pipe, for which Node has no public API. */
function descriptorOf(stream: object): number {
  const handle: unknown = Reflect.get(stream, '_handle');
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined;
  if (typeof fd !== 'number') throw new Error('the pipe has no descriptor');
  return fd;
}

it('lines for a full destination are counted as dropped', async () => {
  const taken: string[] = [];
  let room = true;
  const sink = createLogSink({ take: (text) => room && taken.push(text) > 0 });
  sink.append('one');
  sink.flush();
  room = false;
  sink.append('two');
  sink.append('three');
  sink.flush();
  expect({ taken, dropped: sink.dropped() }).toEqual({ taken: ['one\n'], dropped: 2 });
  await sink.close();
});

it('lines of another process are not mixed with own lines', async () => {
  const batches: string[] = [];
  const sink = createLogSink({ write: (text) => batches.push(text) });
  sink.append('own');
  sink.relay('theirs 1\ntheirs 2\n');
  sink.append('own again');
  await sink.close();
  sink.relay('late 1\nlate 2\n');
  expect(batches.join('')).toBe('own\ntheirs 1\ntheirs 2\nown again\n');
  expect(sink.dropped()).toBe(2);
});

it('lines written as bytes keep their order among the others', async () => {
  const batches: string[] = [];
  const sink = createLogSink({ write: (text) => batches.push(text) });
  const write = (name: string): void => {
    sink.line.text(`{"line":"${name}"`);
    sink.endLine();
  };
  const relayed = `${'x'.repeat(1023)}\n`.repeat(200);
  write('first');
  sink.append('told');
  write('second');
  sink.relay(relayed);
  write('third');
  await sink.close();
  write('late');
  expect(batches.join('')).toBe(`{"line":"first"}\ntold\n{"line":"second"}\n${relayed}{"line":"third"}\n`);
  expect(sink.dropped()).toBe(1);
});

it('a batch of lines written as bytes is written at 64 KiB', () => {
  vi.useFakeTimers();
  const batches: number[] = [];
  const sink = createLogSink({ write: (text) => batches.push(text.length) });
  for (let count = 0; count < 2 * 64 + 1; count += 1) {
    sink.line.text('x'.repeat(1022));
    sink.endLine();
  }
  expect(batches).toEqual([64 * 1024, 64 * 1024]);
  sink.flush();
});
