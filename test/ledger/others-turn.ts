// Measures how much work in this process delays others: in the event loop, and in the store.
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { PersistentStores } from '../../gateway/stores/stores.ts';

export interface Noticed<T> {
  readonly result: T;
  /** The longest turn of this event loop, in CPU time, which other processes do not affect. */
  readonly turnMs: number;
  /** The longest concurrent request to the store. */
  readonly waitMs: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

export async function whileOthersAsk<T>(
  pins: Pick<PersistentStores['pins'], 'find'>,
  work: () => Promise<T>,
): Promise<Noticed<T>> {
  let isOver = false;
  let [turnMs, waitMs] = [0, 0];
  const asking = (async () => {
    for (; !isOver; await setTimeout(5)) {
      const begin = performance.now();
      await pins.find({ api: 'payments', account: `account-${begin}` });
      waitMs = Math.max(waitMs, performance.now() - begin);
    }
  })();
  const turning = (async () => {
    while (!isOver) {
      const begin = process.threadCpuUsage();
      await setImmediate();
      const { user, system } = process.threadCpuUsage(begin);
      turnMs = Math.max(turnMs, (user + system) / 1000);
    }
  })();
  const cpu = process.cpuUsage();
  const begin = performance.now();
  const result = await work();
  const seconds = (performance.now() - begin) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  isOver = true;
  await Promise.all([asking, turning]);
  return { result, turnMs, waitMs, seconds, cpuSeconds: (user + system) / 1e6 };
}
