// Vitest global setup, before all projects: on a fresh checkout one gateway starts and ends before the first test.
// It leaves compiled what the processes of the tests load, which would else start side by side and each compile all of it.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { startProcess } from './gateway-process.ts';

const NOBODY = 'http://127.0.0.1:9';

export async function setup(): Promise<void> {
  if (existsSync(env.NODE_COMPILE_CACHE ?? '')) return;
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
