// Vitest global setup: one Redis for all tests of a project, given to them as `inject('redisUrl')`.
import type { TestProject } from 'vitest/node';
import { findRedis, systemEnvironment } from './find-redis.ts';
import { startRedis } from './redis-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A real Redis. Tests use keys of their own: it may be shared with other runs. */
    redisUrl: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const found = await findRedis(systemEnvironment());
  const running = found.kind === 'program' ? await startRedis({ program: found.program }) : undefined;
  project.provide('redisUrl', found.kind === 'url' ? found.url : (running?.url ?? ''));
  return async () => running?.stop();
}
