// The slots of one target: which request gets one, which waits, which is refused.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ConcurrencyLimit,
  createConcurrencyLimit,
  Slot,
} from '../../gateway/upstream/concurrency-limit.ts';
import { createDeadlines, processClock } from '../../gateway/upstream/deadlines.ts';
import type { Choice } from '../../gateway/upstream/targets/target-state.ts';

const RULES = { max: 1, queue: 1, waitMs: 100 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Caller {
  state: 'waiting' | 'running' | 'busy';
  readonly leave: () => void;
  readonly whole: () => void;
}

const ANY: Choice = {
  target: { origin: 'http://127.0.0.1:1' },
  answered: () => undefined,
  settle: () => undefined,
};

const createLimit = (): ConcurrencyLimit => createConcurrencyLimit(createDeadlines(processClock));

function come(limit: ConcurrencyLimit, rules = RULES, arriving = false): Caller {
  const slot = new Slot(limit, ANY, arriving, {
    onSlot: () => {
      caller.state = 'running';
    },
    onBusy: () => {
      caller.state = 'busy';
    },
  });
  const caller: Caller = {
    state: 'waiting',
    leave: () => slot.settle('answered'),
    whole: () => slot.bodyArrived(),
  };
  slot.enter(rules);
  return caller;
}

describe('a concurrency limit', () => {
  it('admits one call per slot, and further calls in order of arrival', () => {
    const limit = createLimit();
    const rules = { max: 2, queue: 9, waitMs: 100 };
    const callers = [1, 2, 3, 4].map(() => come(limit, rules));
    expect(callers.map(({ state }) => state)).toEqual(['running', 'running', 'waiting', 'waiting']);
    callers[1]?.leave();
    expect(callers.map(({ state }) => state)).toEqual(['running', 'running', 'running', 'waiting']);
    expect(limit.size()).toEqual({ running: 2, waiting: 1 });
  });

  it('refuses a call at once if the queue is full', () => {
    const limit = createLimit();
    const callers = [1, 2, 3].map(() => come(limit));
    expect(callers.map(({ state }) => state)).toEqual(['running', 'waiting', 'busy']);
  });

  it('refuses a call that has waited too long, but not a running call', () => {
    const limit = createLimit();
    const [first, second] = [come(limit), come(limit)];
    vi.advanceTimersByTime(99);
    expect(second?.state).toBe('waiting');
    vi.advanceTimersByTime(1);
    expect([first?.state, second?.state]).toEqual(['running', 'busy']);
    expect(limit.size()).toEqual({ running: 1, waiting: 0 });
  });

  it('releases a slot once, even if its call is settled twice', () => {
    const limit = createLimit();
    const rules = { ...RULES, queue: 9 };
    const callers = [1, 2, 3].map(() => come(limit, rules));
    callers[0]?.leave();
    callers[0]?.leave();
    expect(callers.map(({ state }) => state)).toEqual(['running', 'running', 'waiting']);
  });

  it('does not admit or notify a call that left the queue', () => {
    const limit = createLimit();
    const [first, second, third] = [1, 2, 3].map(() => come(limit, { ...RULES, queue: 2 }));
    second?.leave();
    first?.leave();
    expect([second?.state, third?.state]).toEqual(['waiting', 'running']);
    vi.advanceTimersByTime(1_000);
    expect(second?.state).toBe('waiting');
  });

  it('continues with the next call if one ends inside its own callback', () => {
    const limit = createLimit();
    const order: number[] = [];
    const rules = { ...RULES, queue: 9 };
    const hold = come(limit, rules);
    for (const each of [1, 2, 3]) {
      const slot = new Slot(limit, ANY, false, {
        onSlot: () => {
          order.push(each);
          slot.settle('answered');
        },
        onBusy: () => order.push(-each),
      });
      slot.enter(rules);
    }
    hold.leave();
    expect(order).toEqual([1, 2, 3]);
    expect(limit.size()).toEqual({ running: 0, waiting: 0 });
  });

  it('applies a lower limit of a reload once enough slots are free', () => {
    const limit = createLimit();
    const wide = { max: 2, queue: 9, waitMs: 100 };
    const [first, second] = [come(limit, wide), come(limit, wide)];
    const third = come(limit, RULES);
    first?.leave();
    expect(third.state).toBe('waiting');
    second?.leave();
    expect(third.state).toBe('running');
  });

  describe('with requests whose bodies are incomplete', () => {
    const rules = { max: 4, queue: 4, waitMs: 100 };
    const states = (callers: readonly Caller[]): readonly Caller['state'][] =>
      callers.map(({ state }) => state);
    const slow = (limit: ConcurrencyLimit, count: number): readonly Caller[] =>
      Array.from({ length: count }, () => come(limit, rules, true));

    it('gives them half of the slots and of the queue, and the rest to other requests', () => {
      const limit = createLimit();
      expect(states(slow(limit, 5))).toEqual(['running', 'running', 'waiting', 'waiting', 'busy']);
      expect(states([1, 2, 3, 4, 5].map(() => come(limit, rules)))).toEqual([
        'running',
        'running',
        'waiting',
        'waiting',
        'busy',
      ]);
    });

    it('admits the next one when a body is complete, before its request ends', () => {
      const limit = createLimit();
      const callers = slow(limit, 4);
      callers[0]?.whole();
      expect(states(callers)).toEqual(['running', 'running', 'running', 'waiting']);
      callers[0]?.whole();
      callers[0]?.leave();
      expect(states(callers)).toEqual(['running', 'running', 'running', 'waiting']);
      callers[1]?.leave();
      expect(states(callers)).toEqual(['running', 'running', 'running', 'running']);
    });

    it('admits a waiting request whose body becomes complete like any other', () => {
      const limit = createLimit();
      const callers = slow(limit, 4);
      callers[3]?.whole();
      expect(states(callers)).toEqual(['running', 'running', 'waiting', 'running']);
      expect(limit.size()).toEqual({ running: 3, waiting: 1 });
      vi.advanceTimersByTime(100);
      expect(states(callers)).toEqual(['running', 'running', 'busy', 'running']);
    });

    it('keeps the order of arrival between both kinds of requests', () => {
      const limit = createLimit();
      const [one, two] = slow(limit, 2);
      const [three] = [come(limit, rules), come(limit, rules)];
      const [five] = slow(limit, 1);
      const six = come(limit, rules);
      one?.leave();
      expect([five?.state, six.state]).toEqual(['running', 'waiting']);
      two?.leave();
      expect(six.state).toBe('running');
      three?.leave();
      expect(limit.size()).toEqual({ running: 3, waiting: 0 });
    });

    it('gives them a slot even if there is only one', () => {
      const limit = createLimit();
      expect(come(limit, RULES, true).state).toBe('running');
    });

    it('never gives them more than half and loses no slot, in any order of events', () => {
      const step = fc.tuple(fc.constantFrom('come', 'slow', 'whole', 'leave'), fc.nat(20));
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
          const limit = createLimit();
          const callers: { readonly caller: Caller; arriving: boolean; gone: boolean }[] = [];
          for (const [what, which] of steps) {
            const chosen = callers[which % Math.max(1, callers.length)];
            if (what === 'come' || what === 'slow')
              callers.push({
                caller: come(limit, rules, what === 'slow'),
                arriving: what === 'slow',
                gone: false,
              });
            else if (chosen !== undefined && what === 'whole') {
              chosen.caller.whole();
              chosen.arriving = false;
            } else if (chosen !== undefined) {
              chosen.caller.leave();
              chosen.gone = true;
            }
            const placed = callers.filter(({ caller, gone }) => caller.state === 'running' && !gone);
            const waiting = callers.filter(({ caller, gone }) => caller.state === 'waiting' && !gone);
            expect(limit.size()).toEqual({ running: placed.length, waiting: waiting.length });
            expect(placed.filter(({ arriving }) => arriving).length).toBeLessThanOrEqual(2);
            const mayGo = waiting.filter(({ arriving }) => !arriving);
            if (placed.length < 4) expect(mayGo).toEqual([]);
          }
        }),
      );
    });
  });
});
