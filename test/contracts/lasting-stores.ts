// Opens the lasting stores for the contract suites, embedded and on Redis, each as two gateways see them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openEmbeddedState } from '../../gateway/stores/embedded/embedded-state.ts';
import { connectRedis } from '../../gateway/stores/redis/connect.ts';
import { openSharedState, type SharedState } from '../../gateway/stores/redis/shared-state.ts';
import type { PersistentStores } from '../../gateway/stores/stores.ts';
import { startRedis } from '../support/redis-server.ts';

export interface LastingUnderTest {
  readonly gateways: () => readonly [PersistentStores, PersistentStores];
  /** Every gateway applies changes of the others. */
  readonly refresh: () => Promise<void>;
  /** Every gateway is closed and opened again with empty caches. */
  readonly restart: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export const onFault = (error: unknown): never => expect.fail(String(error));

/** Both gateways are one process. */
async function openEmbedded(): Promise<LastingUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'sundial-lasting-'));
  const open = () => openEmbeddedState(folder, { onState: () => undefined, onFault });
  let state = await open();
  return {
    gateways: () => [state, state],
    refresh: async () => undefined,
    restart: async () => {
      await state.close();
      state = await open();
    },
    close: async () => {
      await state.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A gateway on Redis with long timeouts, because other suites run at the same time. */
export async function openShared(url: string): Promise<SharedState> {
  const connection = await connectRedis(url, { onState: () => undefined, answerWithinMs: 5000 });
  return openSharedState(connection, { onFault });
}

async function openRedis(): Promise<LastingUnderTest> {
  const redis = await startRedis();
  const open = () => Promise.all([openShared(redis.url), openShared(redis.url)]);
  let states = await open();
  const closeStates = () => Promise.all(states.map((state) => state.close()));
  return {
    gateways: () => states,
    refresh: async () => {
      await Promise.all(states.map((state) => state.refresh()));
    },
    restart: async () => {
      await closeStates();
      states = await open();
    },
    close: async () => {
      await closeStates();
      await redis.stop();
    },
  };
}

export const LASTING_STORES: readonly (readonly [string, () => Promise<LastingUnderTest>])[] = [
  ['embedded', openEmbedded],
  ['redis', openRedis],
];
