// Which requests the ledger records, which versions it watches, and its bounds.
import { describe, expect, it, vi } from 'vitest';
import type { RefusalReason } from '../../gateway/exchange/directive.ts';
import { Fault } from '../../gateway/exchange/directive.ts';
import type { ExchangeOutcome } from '../../gateway/exchange/exchange.ts';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import type { VersionRules } from '../../gateway/plan/plan.ts';
import { NO_MATCHES } from '../../gateway/plan/routes/nodes-by-name.ts';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import { createPhases, phaseAt } from '../../gateway/policy/lifecycle/phases.ts';
import type { Schedule } from '../../gateway/policy/lifecycle/schedule.ts';
import type { UsageRecord } from '../../gateway/policy/usage/ledger.ts';
import { stopWatching } from '../../gateway/telemetry/ledger/sweep.ts';
import { createUsageTally, type UsageTally } from '../../gateway/telemetry/ledger/tally.ts';
import { createWatch } from '../../gateway/telemetry/ledger/watched.ts';
import {
  ACCESS,
  api,
  deprecatedFacts,
  type FlatFacts,
  NOW,
  plan,
  version,
  withFacts,
} from '../support/exchange-samples.ts';
import { outcome } from './telemetry-harness.ts';

const DAY_MS = 86_400_000;
const PHASES = version().phases;
const SUNSET = PHASES.find(({ stage }) => stage === 'sunset' || stage === 'retired')?.from ?? 0;

const acme = {
  id: 'acme',
  mayLabelMetrics: true,
  via: 'token',
  scopes: new Set<string>(),
  claims: {},
} as const;

function factsOf(changes: Partial<FlatFacts> & { rules?: Partial<VersionRules> } = {}): ExchangeFacts {
  const { rules, ...facts } = changes;
  const own = version({ access: ACCESS, ...rules });
  const now = facts.now ?? NOW;
  const phase = phaseAt(own.phases, now);
  return deprecatedFacts({ version: own, phase, consumer: acme, now, ...facts });
}

function takenFrom(tally: UsageTally): UsageRecord[] {
  const taken = tally.take();
  const records: UsageRecord[] = [];
  for (let next = taken.next(); next.value !== undefined; next = taken.next()) records.push(next.value);
  return records;
}

function recordsOf(...calls: readonly (readonly [ExchangeFacts, ExchangeOutcome?])[]): UsageRecord[] {
  const tally = createUsageTally();
  for (const [facts, ended = outcome()] of calls) tally.record(facts, ended);
  return takenFrom(tally);
}

describe('a recorded call', () => {
  it('has consumer, version, time, agent and path template, but not the path', () => {
    const facts = factsOf({ requestId: 'r-1' });
    expect(recordsOf([facts, outcome({ method: 'PUT', path: '/api/v1/orders/secret' })])).toEqual([
      {
        ...{ consumer: 'acme', via: 'token', api: 'orders', version: 'v1', operation: undefined },
        ...{ firstAt: NOW, lastAt: NOW, callsByDay: { '2026-11-20': 1 }, agents: ['curl/8.5.0'] },
        sample: { method: 'PUT', template: '/api/v1/orders/*', requestId: 'r-1' },
      },
    ]);
  });

  it('of an operation has the operation and its template', () => {
    const [record] = recordsOf([factsOf({ rules: { operation: 'GET /items/{id}' } })]);
    expect(record).toMatchObject({
      operation: 'GET /items/{id}',
      sample: { template: '/api/v1/orders/items/{id}' },
    });
  });

  it('of an anonymous caller has the address, or the network for IPv6', () => {
    const facts = factsOf({ consumer: undefined, rules: { access: { kind: 'public' } } });
    const ended = outcome({ clientAddress: '2001:db8::7', clientNetwork: '2001:db8:0:0::/64' });
    expect(recordsOf([facts, ended])).toMatchObject([{ consumer: '2001:db8:0:0::/64', via: 'address' }]);
  });

  it('may be of an anonymous caller only if the access rule allows anonymous callers', () => {
    const anonymous = { access: { ...ACCESS, anonymous: true } };
    expect(recordsOf([factsOf({ consumer: undefined, rules: anonymous })])).toMatchObject([
      { via: 'address' },
    ]);
    expect(recordsOf([factsOf({ consumer: undefined })])).toEqual([]);
  });

  it('is added to the record of the same consumer, even under another plan', () => {
    const records = recordsOf(
      [factsOf({ requestId: 'first' })],
      [factsOf({ now: NOW + 5, requestId: 'later' })],
      [factsOf({ now: NOW + 2 })],
      [factsOf({ now: NOW + DAY_MS })],
      [factsOf({ now: NOW + DAY_MS })],
      [factsOf({ now: NOW + 3 })],
    );
    expect(records).toMatchObject([
      {
        ...{ firstAt: NOW, lastAt: NOW + DAY_MS, sample: { requestId: 'first' } },
        callsByDay: { '2026-11-20': 4, '2026-11-21': 2 },
      },
    ]);
  });

  it('has a record of its own for each kind of credential', () => {
    const records = recordsOf(
      [factsOf()],
      [factsOf({ consumer: { ...acme, via: 'key' } })],
      [factsOf({ consumer: { ...acme, via: 'certificate' } })],
      [
        factsOf({ consumer: undefined, rules: { access: { kind: 'public' } } }),
        outcome({ clientNetwork: 'acme' }),
      ],
    );
    expect(records.map(({ via }) => via)).toEqual(['token', 'key', 'certificate', 'address']);
  });

  it('has the last five agents, cut and on one line', () => {
    const agents = ['1', '2', '3', '2', '4', '5', '6', `a\r\nb\u0000\u0085c${'x'.repeat(300)}`, '\u0007', ''];
    const [record] = recordsOf(...agents.map((userAgent) => [factsOf(), outcome({ userAgent })] as const), [
      factsOf(),
      outcome({ userAgent: undefined }),
    ]);
    expect(record?.agents).toEqual(['2', '4', '5', '6', expect.stringMatching(/^a b cx{112,113}$/)]);
  });

  it.each<RefusalReason>(['rate_limited', 'brownout', 'body_too_large'])(
    'may have been refused after authentication: %s',
    (refusal) => {
      expect(recordsOf([factsOf({ refusal })])).toHaveLength(1);
    },
  );

  it('may have failed upstream, or its client may have disconnected', () => {
    const failed = factsOf({ fault: new Fault('upstream_reset') });
    expect(recordsOf([failed, outcome({ status: 502 })])).toHaveLength(1);
    expect(recordsOf([factsOf(), outcome({ status: 499, aborted: true })])).toHaveLength(1);
  });

  it('may come after the sunset, by an exception or in observe mode', () => {
    expect(recordsOf([factsOf({ now: SUNSET })])).toHaveLength(1);
    expect(recordsOf([factsOf({ now: SUNSET, observed: 'version_retired' })])).toHaveLength(1);
  });

  it('may be of an active version that has a freeze', () => {
    const active = factsOf({ now: Date.UTC(2025, 0, 1) });
    expect(recordsOf([active])).toEqual([]);
    const frozen = withFacts(active, { version: { ...version({ access: ACCESS }), freeze: NOW } });
    expect(recordsOf([frozen])).toHaveLength(1);
  });
});

describe('no call is recorded', () => {
  const open = { access: { kind: 'public' } } as const;
  it.each<[string, ExchangeFacts]>([
    ['without a version', factsOf({ version: undefined, phase: undefined })],
    ['of an active version', factsOf({ now: Date.UTC(2025, 0, 1) })],
    ['of a planned version', factsOf({ now: Date.UTC(2023, 0, 1) })],
    ['of an anonymous caller if callers must authenticate', factsOf({ consumer: undefined })],
    ['without the scope', factsOf({ refusal: 'scope_insufficient' })],
    ['of an operation that is not granted', factsOf({ refusal: 'operation_not_granted' })],
    ['with a bad token', factsOf({ consumer: undefined, refusal: 'token_invalid' })],
    ['with a 410 response', factsOf({ now: SUNSET, refusal: 'version_retired' })],
    ['with a redirect', factsOf({ now: SUNSET, refusal: 'version_moved' })],
    [
      'with a 410 response of a public API',
      factsOf({ rules: open, now: SUNSET, refusal: 'version_retired' }),
    ],
    ['in a brownout of a public API', factsOf({ rules: open, consumer: undefined, refusal: 'brownout' })],
    ['in maintenance', factsOf({ rules: open, consumer: undefined, refusal: 'maintenance' })],
  ])('%s', (_which, facts) => {
    expect(recordsOf([facts])).toEqual([]);
  });
});

describe('the tally', () => {
  it('has a maximum of consumers, and counts the calls that it drops', () => {
    const tally = createUsageTally(3);
    for (const id of ['a', 'b', 'c', 'd', 'a', 'd', 'e'])
      tally.record(factsOf({ consumer: { ...acme, id } }), outcome());
    expect([tally.size(), tally.counted(), tally.dropped()]).toEqual([3, 4, 3]);
    expect(takenFrom(tally).map(({ consumer }) => consumer)).toEqual(['a', 'b', 'c']);
    expect([tally.size(), tally.counted(), tally.dropped()]).toEqual([0, 4, 3]);
    tally.record(factsOf({ consumer: { ...acme, id: 'd' } }), outcome());
    expect(takenFrom(tally)).toHaveLength(1);
  });

  it('is empty after its records are taken', () => {
    const tally = createUsageTally();
    const facts = factsOf();
    tally.record(facts, outcome());
    expect(takenFrom(tally)).toHaveLength(1);
    expect(takenFrom(tally)).toEqual([]);
    tally.record(facts, outcome());
    expect(takenFrom(tally)).toMatchObject([{ callsByDay: { '2026-11-20': 1 } }]);
  });
});

describe('watched versions', () => {
  const dates = (deprecated: number): Partial<VersionRules> => {
    const schedule: Schedule = { ...version().schedule, deprecated };
    return { schedule, phases: createPhases(schedule, { label: 'v', form: 'rfc9745', warning: true }) };
  };
  const operation = version({ operation: 'GET /search' });
  const operations = { list: [operation], match: () => undefined, reached: () => NO_MATCHES };

  it('are deprecated, frozen, or have a deprecated operation, even without calls', () => {
    const later = dates(NOW + DAY_MS);
    const frozen = { ...version({ label: 'v4', ...later }), freeze: NOW };
    const watch = createWatch(() =>
      plan([
        api([
          version(),
          version({ label: 'v2', ...later }),
          version({ label: 'v3', ...later, operations }),
          frozen,
        ]),
      ]),
    );
    expect(watch(NOW).map(({ version: label }) => label)).toEqual(['v1', 'v3', 'v4']);
  });

  it('are computed again only if a date passed, the plan changed or the clock was set back', () => {
    let current = plan([api([version(), version({ label: 'v2', ...dates(NOW + DAY_MS) })])]);
    const watch = createWatch(() => current);
    const before = watch(NOW);
    expect(watch(NOW + DAY_MS - 1)).toBe(before);
    expect(watch(NOW + DAY_MS)).toHaveLength(2);
    expect(watch(NOW)).toEqual(before);
    current = plan([]);
    expect(watch(NOW)).toEqual([]);
  });
});

describe('a ledger that is off', () => {
  it('removes its watch from the store, and retries until the store is available', async () => {
    vi.useFakeTimers();
    try {
      const told: string[] = [];
      const error = (message: string) => void told.push(message);
      const answers = [new StoreUnavailable('away'), new StoreUnavailable('away'), undefined];
      const unwatch = async () => {
        const answer = answers.shift();
        told.push(answer === undefined ? 'heard' : 'away');
        if (answer !== undefined) throw answer;
      };
      stopWatching({ unwatch }, { error });
      await vi.advanceTimersByTimeAsync(60_000);
      expect(told).toEqual(['away', 'away', 'heard']);
      answers.push(new StoreUnavailable('away'));
      const stop = stopWatching({ unwatch }, { error });
      await vi.advanceTimersByTimeAsync(0);
      stop();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(told).toHaveLength(4);
    } finally {
      vi.useRealTimers();
    }
  });
});
