// Places at one target: who gets one, who waits, who is told to come again.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createGate, type Gate } from '../../gateway/forward/gate.ts';

const RULES = { max: 1, queue: 1, waitMs: 100 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Caller {
  state: 'waiting' | 'placed' | 'busy';
  readonly leave: () => void;
}

function come(gate: Gate, rules = RULES): Caller {
  const caller: { state: Caller['state'] } = { state: 'waiting' };
  const leave = gate.enter(rules, {
    onPlace: () => {
      caller.state = 'placed';
    },
    onBusy: () => {
      caller.state = 'busy';
    },
  });
  return Object.assign(caller, { leave });
}

describe('a gate', () => {
  it('lets in as many as there are places, and the next in the order they came', () => {
    const gate = createGate();
    const rules = { max: 2, queue: 9, waitMs: 100 };
    const callers = [1, 2, 3, 4].map(() => come(gate, rules));
    expect(callers.map(({ state }) => state)).toEqual(['placed', 'placed', 'waiting', 'waiting']);
    callers[1]?.leave();
    expect(callers.map(({ state }) => state)).toEqual(['placed', 'placed', 'placed', 'waiting']);
    expect(gate.size()).toEqual({ running: 2, waiting: 1 });
  });

  it('turns away at once who finds the queue full', () => {
    const gate = createGate();
    const callers = [1, 2, 3].map(() => come(gate));
    expect(callers.map(({ state }) => state)).toEqual(['placed', 'waiting', 'busy']);
  });

  it('turns away who has waited for long enough, and nobody who has a place', () => {
    const gate = createGate();
    const [first, second] = [come(gate), come(gate)];
    vi.advanceTimersByTime(99);
    expect(second?.state).toBe('waiting');
    vi.advanceTimersByTime(1);
    expect([first?.state, second?.state]).toEqual(['placed', 'busy']);
    expect(gate.size()).toEqual({ running: 1, waiting: 0 });
  });

  it('a place is given back once, however often its holder leaves', () => {
    const gate = createGate();
    const rules = { ...RULES, queue: 9 };
    const callers = [1, 2, 3].map(() => come(gate, rules));
    callers[0]?.leave();
    callers[0]?.leave();
    expect(callers.map(({ state }) => state)).toEqual(['placed', 'placed', 'waiting']);
  });

  it('who leaves the queue is not let in, and not told anything', () => {
    const gate = createGate();
    const [first, second, third] = [1, 2, 3].map(() => come(gate, { ...RULES, queue: 2 }));
    second?.leave();
    first?.leave();
    expect([second?.state, third?.state]).toEqual(['waiting', 'placed']);
    vi.advanceTimersByTime(1_000);
    expect(second?.state).toBe('waiting');
  });

  it('one who leaves from inside his turn does not hold up the next', () => {
    const gate = createGate();
    const order: number[] = [];
    const rules = { ...RULES, queue: 9 };
    const hold = come(gate, rules);
    for (const each of [1, 2, 3]) {
      gate.enter(rules, {
        onPlace: (leave) => {
          order.push(each);
          leave();
        },
        onBusy: () => order.push(-each),
      });
    }
    hold.leave();
    expect(order).toEqual([1, 2, 3]);
    expect(gate.size()).toEqual({ running: 0, waiting: 0 });
  });

  it('a reload that takes places away waits until they are empty', () => {
    const gate = createGate();
    const wide = { max: 2, queue: 9, waitMs: 100 };
    const [first, second] = [come(gate, wide), come(gate, wide)];
    const third = come(gate, RULES);
    first?.leave();
    expect(third.state).toBe('waiting');
    second?.leave();
    expect(third.state).toBe('placed');
  });
});
