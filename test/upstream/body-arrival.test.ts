// How long the gateway waits for a body before it forwards the request, with a mocked clock.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Arrival,
  awaitBody,
  BODY_WAIT_MS,
  ENOUGH_BYTES,
} from '../../gateway/upstream/bodies/measured-body.ts';
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

describe('the wait for a body', () => {
  it.each<[string, (arrival: Arrival) => void, number]>([
    ['ends when the whole body has arrived', (arrival) => arrival.whole(), 1],
    ['ends when enough of the body has arrived', (arrival) => arrival.received(ENOUGH_BYTES), 1],
    [
      'ends when its chunks together are enough',
      (arrival) => {
        for (let left = ENOUGH_BYTES; left > 0; left -= 1_000) arrival.received(1_000);
      },
      1,
    ],
    ['continues while less has arrived', (arrival) => arrival.received(ENOUGH_BYTES - 1), 0],
    ['ends after the maximum wait', () => void vi.advanceTimersByTime(BODY_WAIT_MS), 1],
    ['does not end before the maximum wait', () => void vi.advanceTimersByTime(BODY_WAIT_MS - 1), 0],
  ])('%s', (_what, happen, ready) => {
    const bodies = none();
    const body = come(bodies);
    expect([body.ready, bodies.awaited]).toEqual([0, 1]);
    happen(body.arrival);
    expect([body.ready, bodies.awaited]).toEqual([ready, 1 - ready]);
    body.arrival.received(ENOUGH_BYTES);
    body.arrival.whole();
    vi.advanceTimersByTime(BODY_WAIT_MS);
    expect([body.ready, bodies.awaited]).toEqual([1, 0]);
  });

  it('has no effect after it was stopped', () => {
    const bodies = none();
    const body = come(bodies);
    body.arrival.stop();
    body.arrival.stop();
    body.arrival.whole();
    vi.runAllTimers();
    expect([body.ready, bodies.awaited]).toEqual([0, 0]);
  });

  it('ends once the bytes sent with the head are read, if too many bodies wait', () => {
    const bodies = none(1, 1);
    const body = come(bodies);
    expect(body.ready).toBe(0);
    vi.advanceTimersByTime(0);
    expect([body.ready, bodies.awaited]).toEqual([1, 1]);
  });
});
