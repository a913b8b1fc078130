// The first call of an account that no version was kept for: what it gets is kept once it is let in, and not before.
import { describe, expect, it } from 'vitest';
import { createExchange } from '../../gateway/exchange/exchange.ts';
import type { ExchangePorts } from '../../gateway/exchange/ports.ts';
import type { VersionRules } from '../../gateway/plan/plan.ts';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import { createPhases } from '../../gateway/policy/lifecycle/phases.ts';
import type { Quota } from '../../gateway/policy/rate-limit/limit.ts';
import type { Pin, PinStore } from '../../gateway/policy/versioning/pin.ts';
import { createResolutionRules } from '../../gateway/policy/versioning/rules.ts';
import {
  ACCESS,
  api,
  LIMIT,
  LIMITS,
  NOW,
  plan,
  upstream,
  version,
  view,
} from '../support/exchange-samples.ts';

function served(label: string, changes: Partial<VersionRules> = {}): VersionRules {
  const { schedule: old } = version();
  const schedule = {
    ...old,
    released: NOW - 1,
    deprecated: undefined,
    sunset: undefined,
    successor: undefined,
  };
  const phases = createPhases(schedule, { label, form: 'true', warning: false });
  return version({ label, schedule, phases, upstream, limits: LIMITS, access: ACCESS, ...changes });
}

interface Situation {
  readonly method?: string;
  readonly rules?: Partial<VersionRules>;
  readonly allowed?: boolean;
  readonly stored?: Pin;
  /** What stands once this call is let in; thrown when it is an error. */
  readonly standing?: Pin | StoreUnavailable;
}

/** What became of the call, and what was asked of the store of the pins meanwhile. */
async function call({ method = 'GET', rules, allowed = true, stored, standing }: Situation) {
  const labels = ['v1', 'v2'];
  const resolution = createResolutionRules({
    labels,
    header: 'api-version',
    default: undefined,
    pin: { account: undefined, created: undefined, match: 'floor' },
  });
  const owner = { ...api(labels.map((label) => served(label, rules))), resolution, access: ACCESS };
  const current = plan([owner]);
  const asked: string[] = [];
  let kept = stored;
  const pins: PinStore = {
    find: () => {
      asked.push('find');
      return kept;
    },
    claim: async (_key, pin) => {
      asked.push(`claim ${pin.label}`);
      if (standing instanceof StoreUnavailable) throw standing;
      kept = standing ?? pin;
      return kept;
    },
    replace: () => Promise.reject(new Error('nobody moves a pin')),
  };
  const quota: Quota = { kind: 'counted', limit: LIMIT, allowed, remaining: 0, retryAfterMs: 1, resetMs: 1 };
  const consumer = { id: 'acme', named: true, scopes: new Set(['orders:read']), claims: {} };
  const ports: ExchangePorts = {
    plan: () => current,
    now: () => NOW,
    wallClock: () => NOW,
    monotonic: () => 0,
    guard: () => ({ allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 0 }),
    limiter: {
      take: () => {
        asked.push('take');
        return quota;
      },
    },
    pins,
    overrides: () => [],
    verifiers: new Map([['main', { verify: () => ({ kind: 'consumer', consumer }) }]]),
    onFault: () => undefined,
    hstsSeconds: undefined,
  };
  const exchange = createExchange(ports);
  const facts = exchange.begin('b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001');
  const request = view({ method, path: '/api/orders', headers: { authorization: 'Bearer a.b.c' } });
  const directive = await exchange.decide(request, facts);
  const end =
    directive.kind === 'refuse' ? directive.refusal.reason : `${facts.version?.label} by ${facts.carrier}`;
  return { end, asked };
}

const pin = (label: string): Pin => ({ label, origin: 'first_call', since: NOW, previous: undefined });

describe('a first call', () => {
  it('is kept after it was counted, and once', async () => {
    expect(await call({})).toEqual({ end: 'v2 by pin', asked: ['find', 'take', 'claim v2'] });
  });

  it.each<[string, Situation, string]>([
    ['lacks a scope', { method: 'POST' }, 'scope_insufficient'],
    ['comes too fast', { allowed: false }, 'rate_limited'],
    ['meets maintenance', { rules: { maintenance: { until: NOW + 1 } } }, 'maintenance'],
  ])('that %s is refused, and pins nobody', async (_what, situation, reason) => {
    const { end, asked } = await call(situation);
    expect(end).toBe(reason);
    expect(asked.filter((each) => each.startsWith('claim'))).toEqual([]);
  });

  it('of two at once goes by the one that was kept, whatever it was going to get', async () => {
    const { end, asked } = await call({ standing: pin('v1') });
    expect(end).toBe('v1 by pin');
    expect(asked.filter((each) => each.startsWith('claim'))).toEqual(['claim v2']);
  });

  it('that cannot be kept is refused: the next one might get another version', async () => {
    expect((await call({ standing: new StoreUnavailable('away') })).end).toBe('pins_unavailable');
  });
});

it('an account that has a pin is asked for and kept no more', async () => {
  expect(await call({ stored: pin('v1') })).toEqual({ end: 'v1 by pin', asked: ['find', 'take'] });
});
