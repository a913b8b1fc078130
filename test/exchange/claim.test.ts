// A claim on an idempotency key with a scripted store: the duration of its lock, and the recorded outcome.
import { describe, expect, it } from 'vitest';
import { type ClaimOptions, claimKey } from '../../gateway/exchange/steps/idempotency.ts';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import type { IdempotencyStore, KeyClaim } from '../../gateway/policy/idempotency/rules.ts';
import { idempotencyOf } from '../../gateway/sections/idempotency/compile.ts';
import { deprecatedFacts, NOW } from '../support/exchange-samples.ts';

const TOTAL_MS = 60_000;
const BODY = Buffer.from('{}');
const ANSWER = { status: 201, headers: {}, body: Buffer.from('x') };

interface Situation {
  readonly written?: Parameters<typeof idempotencyOf>[0][number];
  /** The results of claims, in order. An error if the store is unavailable. */
  readonly found?: readonly (KeyClaim | Error)[];
  readonly away?: boolean;
}

function holding({ written = {}, found = [], away = false }: Situation = {}) {
  const calls: string[] = [];
  const faults: unknown[] = [];
  const clock = { now: 0 };
  const answers = [...found];
  const locks: number[] = [];
  const record = async (what: string): Promise<boolean> => {
    calls.push(what);
    if (away) throw new StoreUnavailable('away');
    return true;
  };
  const store: IdempotencyStore = {
    claim: async (_key, _owner, lockMs) => {
      calls.push('claim');
      locks.push(lockMs);
      const next = answers.shift() ?? { kind: 'claimed' };
      if (next instanceof Error) throw next;
      return next;
    },
    finish: (_key, _owner, _answer, ms) => record(`finish ${ms}`),
    hold: (_key, _owner, ms) => record(`hold ${ms}`),
    release: () => record('release'),
  };
  const facts = deprecatedFacts();
  const rules = idempotencyOf([written]);
  if (rules === undefined) throw new Error('no rules');
  const options: ClaimOptions = {
    ...{ rules, key: 'k', contentType: 'a/b', totalMs: TOTAL_MS, facts },
    ports: {
      idempotency: store,
      monotonic: () => clock.now,
      wallClock: () => NOW,
      onFault: (fault) => faults.push(fault.cause),
    },
  };
  return { calls, faults, clock, facts, locks, options };
}

async function claimed(situation: Situation = {}) {
  const held = holding(situation);
  const result = await claimKey(held.options);
  if (result.kind !== 'claimed') throw new Error(result.kind);
  return { ...held, claim: result.claim };
}

describe('a claim', () => {
  it('IDM-5: has a lock longer than the upstream timeout, and is renewed after a slow body', async () => {
    const { claim, clock, calls, locks } = await claimed();
    clock.now = 1_000;
    expect(await claim.renew()).toBeUndefined();
    expect(calls).toEqual(['claim']);
    clock.now = 200_000;
    expect(await claim.renew()).toBeUndefined();
    expect(calls).toEqual(['claim', 'claim']);
    for (const lock of locks) expect(lock).toBeGreaterThan(TOTAL_MS);
  });

  it('IDM-5: that another request took over during a slow body is a conflict', async () => {
    const { claim, clock, facts, calls } = await claimed({
      found: [{ kind: 'claimed' }, { kind: 'running' }],
    });
    clock.now = 200_000;
    expect(await claim.renew()).toEqual({ reason: 'idempotency_conflict' });
    claim.release();
    expect(facts.completion.idempotency).toBe('conflict');
    expect(calls).toEqual(['claim', 'claim']);
  });

  it.each([
    [false, undefined, 'unprotected'],
    [true, { reason: 'idempotency_unavailable', retryAfterSeconds: 1, restoredAt: NOW + 1000 }, undefined],
  ])('IDM-8: that cannot be renewed is refused if required: %s', async (required, refusal, outcome) => {
    const found = [{ kind: 'claimed' } as const, new StoreUnavailable('away')];
    const { claim, clock, facts } = await claimed({ written: { required }, found });
    clock.now = 200_000;
    expect(await claim.renew()).toEqual(refusal);
    expect(facts.completion.idempotency).toBe(outcome);
  });

  it('keeps the first reported outcome', async () => {
    const { claim, calls } = await claimed();
    await claim.store(BODY, ANSWER);
    claim.reportUnknown();
    claim.release();
    expect(calls).toEqual(['claim', 'finish 86400000']);
  });

  it.each([
    ['hold', 'hold 86400000'],
    ['release', 'release'],
  ] as const)('IDM-6: an unknown outcome follows the setting `unknown: %s`', async (unknown, word) => {
    const { claim, calls, facts } = await claimed({ written: { unknown } });
    claim.reportUnknown();
    expect(calls).toEqual(['claim', word]);
    expect(facts.completion.idempotency).toBe('unknown');
  });

  it.each([
    [false, 'release', 'unprotected'],
    [true, 'hold 86400000', 'unknown'],
  ] as const)(
    'IDM-7: for a response too large to store, required: %s, the store gets %s',
    async (required, word, outcome) => {
      const { claim, calls, facts } = await claimed({ written: { required } });
      claim.reportUnstorable();
      claim.reportUnknown();
      expect(calls).toEqual(['claim', word]);
      expect(facts.completion.idempotency).toBe(outcome);
    },
  );

  it('a response that cannot be stored during an outage is unprotected, and not a fault', async () => {
    const { claim, facts, faults } = await claimed({ away: true });
    await claim.store(BODY, ANSWER);
    expect(facts.completion.idempotency).toBe('unprotected');
    expect(faults).toEqual([]);
  });

  it('a failed claim is released, because it may have been stored', async () => {
    const { options, calls } = holding({ found: [new StoreUnavailable('late')] });
    await expect(claimKey(options)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(calls).toEqual(['claim', 'release']);
  });
});
