// FWD-16: which requests are retried, and how often.
import { describe, expect, it } from 'vitest';
import type { CallFailure } from '../../gateway/upstream/call.ts';
import {
  createRetryBudget,
  mayRetry,
  type RetryBudget,
  type RetryState,
} from '../../gateway/upstream/retry.ts';

const RETRIES = { attempts: 1, budget: 0.2 };
const UNLIMITED: RetryBudget = { onRequest: () => undefined, take: () => true };
const SPENT: RetryBudget = { onRequest: () => undefined, take: () => false };

const failure = (changes: Partial<CallFailure> = {}): CallFailure => ({
  cause: new Error('x'),
  unsent: false,
  unanswered: false,
  stale: false,
  ...changes,
});
const tried = (changes: Partial<RetryState> = {}): RetryState => ({
  method: 'GET',
  hasBody: false,
  tries: 0,
  retries: RETRIES,
  budget: UNLIMITED,
  ...changes,
});

describe('FWD-16: a failed call is retried', () => {
  it.each<[string, boolean, Partial<CallFailure>, Partial<RetryState>]>([
    ['a GET without a byte of a response', true, { unanswered: true }, {}],
    ['a HEAD', true, { unanswered: true }, { method: 'HEAD' }],
    ['an OPTIONS', true, { unanswered: true }, { method: 'OPTIONS' }],
    ['a DELETE without a body', true, { unanswered: true }, { method: 'DELETE' }],
    ['a PUT without a body', true, { unanswered: true }, { method: 'PUT' }],
    ['a PUT with a body', false, { unanswered: true }, { method: 'PUT', hasBody: true }],
    ['a POST', false, { unanswered: true }, { method: 'POST' }],
    ['a PATCH', false, { unanswered: true }, { method: 'PATCH' }],
    ['a method of unknown semantics', false, { unanswered: true }, { method: 'QUERY' }],
    ['a POST of which nothing was sent', true, { unsent: true }, { method: 'POST', hasBody: true }],
    ['a GET with a byte of a response', false, {}, {}],
    ['a call that was retried already', false, { unanswered: true }, { tries: 1 }],
    [
      'the second of two allowed retries',
      true,
      { unanswered: true },
      { tries: 1, retries: { ...RETRIES, attempts: 2 } },
    ],
    ['a call with retries off', false, { unsent: true }, { retries: undefined, budget: undefined }],
    ['a call beyond the budget', false, { unanswered: true }, { budget: SPENT }],
    [
      'a call on a stale connection, beyond the budget too',
      true,
      { unanswered: true, stale: true },
      { budget: SPENT },
    ],
    ['a POST on a stale connection', false, { unanswered: true, stale: true }, { method: 'POST' }],
  ])('if it is %s: %s', (_, expected, failed, state) => {
    expect(mayRetry(failure(failed), tried(state))).toBe(expected);
  });
});

describe('the retry budget', () => {
  function budgetAt() {
    let now = 0;
    const budget = createRetryBudget(() => now);
    const takeAll = (share = 0.2): number => {
      let taken = 0;
      while (budget.take(share)) taken += 1;
      return taken;
    };
    const pass = (ms: number): void => {
      now += ms;
    };
    return { budget, takeAll, pass };
  }

  it('is a share of the requests of the last ten seconds', () => {
    const { budget, takeAll } = budgetAt();
    for (let count = 0; count < 1_000; count += 1) budget.onRequest();
    expect(takeAll()).toBe(200);
  });

  it('is at least one retry per second', () => {
    expect(budgetAt().takeAll()).toBe(10);
  });

  it('recovers second by second as old retries expire', () => {
    const { takeAll, pass } = budgetAt();
    takeAll();
    pass(9_000);
    expect(takeAll()).toBe(0);
    pass(1_000);
    expect(takeAll()).toBe(10);
  });

  it('is ten retries after a long pause', () => {
    const { budget, takeAll, pass } = budgetAt();
    for (let count = 0; count < 1_000; count += 1) budget.onRequest();
    pass(86_400_000);
    expect(takeAll()).toBe(10);
  });
});
