// The first call of an account without a pin: its version is stored after the call is admitted.
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import { NO_SUCCESSOR } from '../../gateway/policy/lifecycle/retirement.ts';
import type { Pin, PinStore } from '../../gateway/policy/versioning/pin.ts';
import { NOW } from '../support/exchange-samples.ts';
import { callUnnamed, type UnnamedCall } from '../support/first-calls.ts';

interface Situation extends Pick<UnnamedCall, 'method' | 'rules' | 'allowed' | 'mode'> {
  readonly stored?: Pin;
  /** The pin in the store when this call is admitted, or the error of the store. */
  readonly standing?: Pin | StoreUnavailable;
}

/** The outcome of the call, and the ports it used, in order. */
async function call({ stored, standing, ...situation }: Situation) {
  const used: string[] = [];
  let kept = stored;
  const pins: PinStore = {
    find: () => {
      used.push('find');
      return kept;
    },
    claim: async (_key, pin) => {
      used.push(`claim ${pin.label}`);
      if (standing instanceof StoreUnavailable) throw standing;
      kept = standing ?? pin;
      return kept;
    },
    replace: () => Promise.reject(new Error('no test moves a pin')),
  };
  const called = await callUnnamed({ ...situation, pins, onAsked: (what) => used.push(what) });
  return { ...called, used };
}

const pin = (label: string): Pin => ({ label, origin: 'first_call', since: NOW, previous: undefined });
const BOTH = (rules: NonNullable<UnnamedCall['rules']>['v1'] = {}) => ({ v1: rules, v2: rules });
const LOST = ['guard', 'verify', 'find', 'take', 'claim v2', 'find'];

describe('a first call', () => {
  it('is counted first, and stores its version once', async () => {
    const { end, used } = await call({});
    expect(end).toBe('v2 by pin');
    expect(used).toEqual(['guard', 'verify', 'find', 'take', 'claim v2']);
  });

  it.each<[string, Situation, string]>([
    ['lacks a scope', { method: 'POST' }, 'scope_insufficient'],
    ['exceeds the limit', { allowed: false }, 'rate_limited'],
    ['is made during maintenance', { rules: BOTH({ maintenance: { until: NOW + 1 } }) }, 'maintenance'],
  ])('that %s is refused and stores no pin', async (_what, situation, reason) => {
    const { end, used } = await call(situation);
    expect(end).toBe(reason);
    expect(used.filter((each) => each.startsWith('claim'))).toEqual([]);
  });

  it('whose version cannot be stored is refused, because the next call may get another version', async () => {
    expect((await call({ standing: new StoreUnavailable('away') })).end).toBe('pins_unavailable');
  });
});

describe('a first call that finds the pin of a concurrent call', () => {
  it('uses the stored version, and is counted once', async () => {
    const { end, used } = await call({ standing: pin('v1') });
    expect(end).toBe('v1 by pin');
    expect(used).toEqual(LOST);
  });

  it('is counted if only the stored version has limits', async () => {
    const { used } = await call({ standing: pin('v1'), rules: { v2: { limits: undefined } } });
    expect(used).toEqual(['guard', 'verify', 'find', 'claim v2', 'find', 'take']);
  });

  it('is refused by the rules of the stored version', async () => {
    const ended = { dates: { deprecated: NOW - 2, sunset: NOW } };
    const { end, used, facts } = await call({ standing: pin('v1'), rules: { v1: ended } });
    expect(end).toBe('version_retired');
    expect(used).toEqual(LOST);
    expect(facts.decision.phase?.stage).toBe('retired');
  });

  it.each([
    ['a version with a successor', 'v1', 'v1 by pin'],
    ['a version that was removed from the file', 'v3', 'version_unknown'],
  ])('has no facts of the version that it did not get: %s', async (_what, label, expected) => {
    const dates = { deprecated: NOW - 1, sunset: NOW + 1, successor: 'v1' };
    const { end, facts } = await call({ standing: pin(label), rules: { v2: { dates } } });
    expect(end).toBe(expected);
    expect(facts.decision.phase?.stage).toBe(label === 'v1' ? 'active' : undefined);
    expect(facts.decision.version?.label).toBe(label === 'v1' ? 'v1' : undefined);
    expect(facts.decision.successor).toEqual(NO_SUCCESSOR);
  });

  it('records the reason of the stored version in `mode: observe`, or a refused limit', async () => {
    const observed = { mode: 'observe', allowed: false } as const;
    const ended = { dates: { deprecated: NOW - 2, sunset: NOW } };
    const lost = await call({ ...observed, standing: pin('v1') });
    expect([lost.end, lost.facts.decision.observed]).toEqual(['v1 by pin', 'rate_limited']);
    const gone = await call({ ...observed, standing: pin('v1'), rules: { v1: ended } });
    expect([gone.end, gone.facts.decision.observed]).toEqual(['v1 by pin', 'version_retired']);
  });
});

it('an account with a pin is looked up once and not stored again', async () => {
  const { end, used } = await call({ stored: pin('v1') });
  expect(end).toBe('v1 by pin');
  expect(used).toEqual(['guard', 'verify', 'find', 'take']);
});
