// Vitest global setup: builds the package that test processes run, and fills an empty compile cache.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { env } from 'node:process';
import { startProcess } from './gateway-process.ts';

const NOBODY = 'http://127.0.0.1:9';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGE = join(ROOT, 'node_modules/.cache/sundial-package');

/** Undefined if the file does not exist. */
const changedAt = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.mtimeMs;

function buildPackage(): void {
  const builtAt = changedAt(join(PACKAGE, 'package.json')) ?? 0;
  const sources = globSync(['gateway/**', 'build/**', 'config/schema/*', 'package-lock.json'], { cwd: ROOT });
  if (sources.every((file) => (changedAt(join(ROOT, file)) ?? 0) < builtAt)) return;
  execFileSync(process.execPath, [join(ROOT, 'build/package.ts'), PACKAGE], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

export async function setup(): Promise<void> {
  const isCompiled = existsSync(env.NODE_COMPILE_CACHE ?? '');
  try {
    buildPackage();
    env.PROGRAM_UNDER_TEST = relative(ROOT, join(PACKAGE, 'gateway/sundial.js'));
  } catch {
    // Tests without a process still run, and the other tests find the error in the source.
    process.stderr.write('The package cannot be built: processes run from the source.\n');
  }
  if (isCompiled) return;
  const folder = await mkdtemp(join(tmpdir(), 'sundial-compiled-'));
  try {
    await using gateway = startProcess(['run', '-c', 'test/journeys/gateway.yaml'], {
      DATA: folder,
      STORE: `embedded:${folder}`,
      ISSUER: NOBODY,
      ECHO: NOBODY,
      POLICIES: join(import.meta.dirname, '../journeys/workers/*.yaml'),
    });
    await gateway.ready;
    gateway.kill('SIGTERM');
    await gateway.ended;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
