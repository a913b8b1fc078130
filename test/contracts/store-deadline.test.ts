// What a request waits for its store, and what it does not: the time in which this process was busy with itself.
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startStoreDeadline } from '../../gateway/stores/store-deadline.ts';

/** As a burst of handshakes does. */
function stall(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('patience with a store', () => {
  it('RL-13: is gone after its time, and not before', async () => {
    const from = performance.now();
    using waiting = startStoreDeadline(20);
    expect(waiting.expired).toBe(false);
    while (!waiting.expired) await pause(1);
    expect(performance.now() - from).toBeGreaterThanOrEqual(19);
  });

  it('a stall of this process counts as one late look at most', async () => {
    using waiting = startStoreDeadline(25);
    for (let times = 0; times < 2; times += 1) {
      stall(60);
      await turn();
      await turn();
    }
    expect(waiting.expired).toBe(false);
  });
});
