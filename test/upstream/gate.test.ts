// Places at one target: who gets one, who waits, who is told to come again.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createGate, type Gate } from '../../gateway/upstream/gate.ts';

const RULES = { max: 1, queue: 1, waitMs: 100 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Caller {
  state: 'waiting' | 'placed' | 'busy';
  readonly leave: () => void;
  readonly whole: () => void;
}

function come(gate: Gate, rules = RULES, arriving = false): Caller {
  const caller: { state: Caller['state'] } = { state: 'waiting' };
  const turn = {
    onPlace: () => {
      caller.state = 'placed';
    },
    onBusy: () => {
      caller.state = 'busy';
    },
  };
  return Object.assign(caller, gate.enter(rules, turn, arriving));
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

  describe('with requests whose bodies have not come whole', () => {
    const rules = { max: 4, queue: 4, waitMs: 100 };
    const states = (callers: readonly Caller[]): readonly Caller['state'][] =>
      callers.map(({ state }) => state);
    const slow = (gate: Gate, count: number): readonly Caller[] =>
      Array.from({ length: count }, () => come(gate, rules, true));

    it('lets them have half of the places and half of the queue, and holds up no other request behind them', () => {
      const gate = createGate();
      expect(states(slow(gate, 5))).toEqual(['placed', 'placed', 'waiting', 'waiting', 'busy']);
      expect(states([1, 2, 3, 4, 5].map(() => come(gate, rules)))).toEqual([
        'placed',
        'placed',
        'waiting',
        'waiting',
        'busy',
      ]);
    });

    it('lets the next one in when one has come whole, though that one stays', () => {
      const gate = createGate();
      const callers = slow(gate, 4);
      callers[0]?.whole();
      expect(states(callers)).toEqual(['placed', 'placed', 'placed', 'waiting']);
      callers[0]?.whole();
      callers[0]?.leave();
      expect(states(callers)).toEqual(['placed', 'placed', 'placed', 'waiting']);
      callers[1]?.leave();
      expect(states(callers)).toEqual(['placed', 'placed', 'placed', 'placed']);
    });

    it('lets one in that comes whole while it waits, as any other', () => {
      const gate = createGate();
      const callers = slow(gate, 4);
      callers[3]?.whole();
      expect(states(callers)).toEqual(['placed', 'placed', 'waiting', 'placed']);
      expect(gate.size()).toEqual({ running: 3, waiting: 1 });
      vi.advanceTimersByTime(100);
      expect(states(callers)).toEqual(['placed', 'placed', 'busy', 'placed']);
    });

    it('keeps the order in which all came, where both kinds may have the next place', () => {
      const gate = createGate();
      const [one, two] = slow(gate, 2);
      const [three] = [come(gate, rules), come(gate, rules)];
      const [five] = slow(gate, 1);
      const six = come(gate, rules);
      one?.leave();
      expect([five?.state, six.state]).toEqual(['placed', 'waiting']);
      two?.leave();
      expect(six.state).toBe('placed');
      three?.leave();
      expect(gate.size()).toEqual({ running: 3, waiting: 0 });
    });

    it('has one place for them where there is only one', () => {
      const gate = createGate();
      expect(come(gate, RULES, true).state).toBe('placed');
    });

    it('never has more than half with them, or forgets a place, however they come, end and go', () => {
      const step = fc.tuple(fc.constantFrom('come', 'slow', 'whole', 'leave'), fc.nat(20));
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
          const gate = createGate();
          const callers: { readonly caller: Caller; arriving: boolean; gone: boolean }[] = [];
          for (const [what, which] of steps) {
            const chosen = callers[which % Math.max(1, callers.length)];
            if (what === 'come' || what === 'slow')
              callers.push({
                caller: come(gate, rules, what === 'slow'),
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
            const placed = callers.filter(({ caller, gone }) => caller.state === 'placed' && !gone);
            const waiting = callers.filter(({ caller, gone }) => caller.state === 'waiting' && !gone);
            expect(gate.size()).toEqual({ running: placed.length, waiting: waiting.length });
            expect(placed.filter(({ arriving }) => arriving).length).toBeLessThanOrEqual(2);
            const mayGo = waiting.filter(({ arriving }) => !arriving);
            if (placed.length < 4) expect(mayGo).toEqual([]);
          }
        }),
      );
    });
  });
});
