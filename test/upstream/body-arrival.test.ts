// How long a body is waited for before its request is sent on, by a clock of the test's own.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Arrival, awaitBody, ENOUGH, PATIENCE_MS } from '../../gateway/upstream/bodies/measured-body.ts';
import { createDeadlines, processClock } from '../../gateway/upstream/deadlines.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const none = (awaited = 0, most = 9) => ({ awaited, most, startDeadline: createDeadlines(processClock) });

function come(bodies = none()): { arrival: Arrival; readonly ready: number } {
  let ready = 0;
  const arrival = awaitBody(bodies, () => {
    ready += 1;
  });
  return {
    arrival,
    get ready() {
      return ready;
    },
  };
}

describe('promise 11: a body is waited for', () => {
  it.each<[string, (arrival: Arrival) => void, number]>([
    ['until all of it has come', (arrival) => arrival.whole(), 1],
    ['until enough of it has come', (arrival) => arrival.received(ENOUGH), 1],
    [
      'until its pieces are enough',
      (arrival) => {
        for (let left = ENOUGH; left > 0; left -= 1_000) arrival.received(1_000);
      },
      1,
    ],
    ['while it is less than that', (arrival) => arrival.received(ENOUGH - 1), 0],
    ['for as long as patience lasts', () => void vi.advanceTimersByTime(PATIENCE_MS), 1],
    ['no longer, and no shorter', () => void vi.advanceTimersByTime(PATIENCE_MS - 1), 0],
  ])('%s', (_what, happen, ready) => {
    const bodies = none();
    const body = come(bodies);
    expect([body.ready, bodies.awaited]).toEqual([0, 1]);
    happen(body.arrival);
    expect([body.ready, bodies.awaited]).toEqual([ready, 1 - ready]);
    body.arrival.received(ENOUGH);
    body.arrival.whole();
    vi.advanceTimersByTime(PATIENCE_MS);
    expect([body.ready, bodies.awaited]).toEqual([1, 0]);
  });

  it('never again once nobody wants to know', () => {
    const bodies = none();
    const body = come(bodies);
    body.arrival.stop();
    body.arrival.stop();
    body.arrival.whole();
    vi.runAllTimers();
    expect([body.ready, bodies.awaited]).toEqual([0, 0]);
  });

  it('only until what came with the head is read, where very many are', () => {
    const bodies = none(1, 1);
    const body = come(bodies);
    expect(body.ready).toBe(0);
    vi.advanceTimersByTime(0);
    expect([body.ready, bodies.awaited]).toEqual([1, 1]);
  });
});
