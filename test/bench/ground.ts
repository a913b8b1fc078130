// What every bench needs: a time limit, a temporary folder, issuer, Redis, upstream and load generator.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { makeKeyPair } from '../support/key-pairs.ts';
import { freePorts } from '../support/ports.ts';
import { startRedis } from '../support/redis-server.ts';
import { type Child, installed, startChild, startProgram, stopChildren } from './children.ts';
import { type BenchIssuer, startIssuer } from './issuer.ts';
import { type Placement, placement } from './processor.ts';
import { answerOf, CONSUMERS, HOST, LARGE, SMALL } from './work.ts';

export interface Ground {
  readonly folder: string;
  readonly where: Placement;
  readonly issuer: BenchIssuer;
  /** One token for each consumer. */
  readonly tokens: readonly string[];
  readonly load: Child;
  /** Variables for the peers: addresses of upstream, issuer and store, files with certificate and keys. */
  readonly environment: Readonly<Record<string, string>>;
  readonly upstream: string;
}

/** Runs a bench up to its time limit, ends its children, removes its files, and exits. */
export async function runBounded(
  longestMinutes: number,
  bench: (stack: AsyncDisposableStack) => Promise<void>,
): Promise<void> {
  const stack = new AsyncDisposableStack();
  let ending: Promise<void> | undefined;
  // Ending the children makes the bench fail too, so only the first reason counts.
  const end = (code: number, reason?: string): Promise<void> => {
    ending ??= (async () => {
      if (reason !== undefined) process.stderr.write(`bench: ${reason}\n`);
      await stack.disposeAsync();
      process.exit(code);
    })();
    return ending;
  };
  process.once('SIGINT', () => void end(130));
  process.once('SIGTERM', () => void end(143));
  const late = `not finished after ${longestMinutes} minutes`;
  setTimeout(() => void end(1, late), longestMinutes * 60_000).unref();
  await bench(stack).then(
    () => end(Number(process.exitCode ?? 0)),
    (error: unknown) => end(1, error instanceof Error ? error.message : String(error)),
  );
}

/** Without `store`, starts a Redis. Unless `pinned`, everything shares all cores. */
export async function openGround(
  stack: AsyncDisposableStack,
  { store, pinned = true }: { readonly store?: string; readonly pinned?: boolean } = {},
): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), 'sundial-bench-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const where = placement(pinned);
  where.moveToRest(process.pid);
  const redis = store === undefined ? await startRedis() : undefined;
  if (redis !== undefined) {
    stack.defer(redis.stop);
    where.moveToRest(redis.pid);
  }
  const issuer = stack.adopt(await startIssuer(), (running) => running.stop());
  stack.defer(stopChildren);
  const aside = { environment: {}, prefix: where.rest, output: 'inherit' } as const;
  const load = await startChild([join(import.meta.dirname, 'generators/load.ts')], {
    ...aside,
    announces: true,
  });
  const upstream = await startUpstream(folder, where);
  return {
    ...{ folder, where, issuer, load, tokens: await issuer.tokens(CONSUMERS) },
    upstream: upstream.said,
    environment: {
      BENCH_UPSTREAM: `http://127.0.0.1:${upstream.port}`,
      BENCH_UPSTREAM_ADDRESS: `127.0.0.1:${upstream.port}`,
      BENCH_ISSUER: issuer.issuer,
      BENCH_STORE: redis?.url ?? store ?? '',
      ...(await writeKeys(folder, issuer)),
    },
  };
}

async function startUpstream(folder: string, { rest }: Placement): Promise<{ port: number; said: string }> {
  const nginx = installed('nginx');
  const aside = { environment: {}, prefix: rest, output: 'inherit' } as const;
  if (nginx === undefined) {
    const { port } = await startChild([join(import.meta.dirname, 'upstream.ts')], {
      ...aside,
      announces: true,
    });
    return {
      port,
      said: 'the upstream is upstream.ts, since nginx is not installed: it may be the bottleneck',
    };
  }
  writeFileSync(join(folder, 'large.json'), answerOf(LARGE), { mode: 0o644 });
  const [port = 0] = await freePorts(1);
  const file = fillTemplate('upstream-nginx.conf', folder, {
    BENCH_PORT: String(port),
    BENCH_SMALL: answerOf(SMALL),
  });
  await startProgram([nginx, '-c', file, '-e', 'stderr'], { ...aside, announces: false });
  await untilAnswered(port);
  return { port, said: 'the upstream is nginx' };
}

async function untilAnswered(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/orders/1`).catch(() => undefined);
    if ((await answer?.text()) === answerOf(SMALL)) return;
    await wait(50);
  }
  throw new Error('the upstream does not answer as it should');
}

/** Writes certificate and keys to files. Returns their paths as variables for the peers. */
export async function writeKeys(
  folder: string,
  issuer: BenchIssuer,
): Promise<Readonly<Record<string, string>>> {
  const { cert, key } = await makeKeyPair({ names: [HOST] });
  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  return {
    BENCH_CERTIFICATE: write('api.crt', cert),
    BENCH_CERTIFICATE_KEY: write('api.key', key),
    BENCH_CERTIFICATE_AND_KEY: write('api.pem', `${cert}\n${key}`),
    BENCH_RS256_KEY: write('rs256.pem', await issuer.publicKey('RS256')),
    BENCH_ES256_KEY: write('es256.pem', await issuer.publicKey('ES256')),
  };
}

export function folderFor(name: string, within: string): string {
  const folder = join(within, name.replaceAll(/[^\w.-]/g, '-'));
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Writes a file of `peers/` with `BENCH_NAME` of `environment` for each `@NAME@`. Returns its path. */
export function fillTemplate(
  name: string,
  folder: string,
  environment: Readonly<Record<string, string>>,
): string {
  // nginx started by root would run its workers as another user.
  const own = { FOLDER: folder, USER: process.getuid?.() === 0 ? 'user root;' : '' };
  const values = new Map([
    ...Object.entries(own),
    ...Object.entries(environment).map(([key, value]) => [key.replace('BENCH_', ''), value] as const),
  ]);
  const text = readFileSync(join(import.meta.dirname, 'peers', name), 'utf8').replaceAll(
    /@([A-Z0-9_]+)@/g,
    (_whole, key: string) => {
      const value = values.get(key);
      if (value === undefined) throw new Error(`${name} needs ${key}`);
      return value;
    },
  );
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
