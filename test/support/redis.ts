// Vitest global setup: one Redis for all tests of a project, as `inject('redisUrl')`.
import type { TestProject } from 'vitest/node';
import { findRedis, systemEnvironment } from './find-redis.ts';
import { startRedis } from './redis-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A real Redis, possibly shared with other runs: each test must use keys of its own. */
    redisUrl: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const found = await findRedis(systemEnvironment());
  const running = found.kind === 'program' ? await startRedis({ program: found.program }) : undefined;
  project.provide('redisUrl', found.kind === 'url' ? found.url : (running?.url ?? ''));
  return async () => running?.stop();
}
