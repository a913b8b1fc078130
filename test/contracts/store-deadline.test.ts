// Tests of the deadline for store calls, which excludes the time in which this process was busy.
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startStoreDeadline } from '../../gateway/stores/store-deadline.ts';

/** Blocks the thread, as a burst of handshakes does. */
function stall(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the deadline of a store call', () => {
  it('RL-13: expires after its time and not earlier', async () => {
    const from = performance.now();
    using waiting = startStoreDeadline(20);
    expect(waiting.expired).toBe(false);
    while (!waiting.expired) await pause(1);
    expect(performance.now() - from).toBeGreaterThanOrEqual(19);
  });

  it('counts a stall of this process as one tick at most', async () => {
    using waiting = startStoreDeadline(25);
    for (let times = 0; times < 2; times += 1) {
      stall(60);
      await turn();
      await turn();
    }
    expect(waiting.expired).toBe(false);
  });
});
