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

describe('a call that is counted', () => {
  it('says who called what, when, with which agent, and how: by the template, never by the path', () => {
    const facts = factsOf({ requestId: 'r-1' });
    expect(recordsOf([facts, outcome({ method: 'PUT', path: '/api/v1/orders/secret' })])).toEqual([
      {
        ...{ consumer: 'acme', via: 'token', api: 'orders', version: 'v1', operation: undefined },
        ...{ firstAt: NOW, lastAt: NOW, callsByDay: { '2026-11-20': 1 }, agents: ['curl/8.5.0'] },
        sample: { method: 'PUT', template: '/api/v1/orders/*', requestId: 'r-1' },
      },
    ]);
  });

  it('of an operation names it, and the template is the operation’s', () => {
    const [record] = recordsOf([factsOf({ rules: { operation: 'GET /items/{id}' } })]);
    expect(record).toMatchObject({
      operation: 'GET /items/{id}',
      sample: { template: '/api/v1/orders/items/{id}' },
    });
  });

  it('of nobody known is the address’s, for IPv6 that of its network', () => {
    const facts = factsOf({ consumer: undefined, rules: { access: { kind: 'public' } } });
    const ended = outcome({ clientAddress: '2001:db8::7', clientNetwork: '2001:db8:0:0::/64' });
    expect(recordsOf([facts, ended])).toMatchObject([{ consumer: '2001:db8:0:0::/64', via: 'address' }]);
  });

  it('of nobody known counts too where a caller may be anonymous', () => {
    const anonymous = { access: { ...ACCESS, anonymous: true } };
    expect(recordsOf([factsOf({ consumer: undefined, rules: anonymous })])).toMatchObject([
      { via: 'address' },
    ]);
    expect(recordsOf([factsOf({ consumer: undefined })])).toEqual([]);
  });

  it('is added to those of the same subject, under whatever plan, from the first to the last', () => {
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

  it('is another’s where only the way it is known differs', () => {
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

  it('keeps five agents, the latest last, cut and on one line', () => {
    const agents = ['1', '2', '3', '2', '4', '5', '6', `a\r\nb\u0000\u0085c${'x'.repeat(300)}`, '\u0007', ''];
    const [record] = recordsOf(...agents.map((userAgent) => [factsOf(), outcome({ userAgent })] as const), [
      factsOf(),
      outcome({ userAgent: undefined }),
    ]);
    expect(record?.agents).toEqual(['2', '4', '5', '6', expect.stringMatching(/^a b cx{112,113}$/)]);
  });

  it.each<RefusalReason>(['rate_limited', 'brownout', 'body_too_large'])(
    'may have been refused, once its caller was let in: %s',
    (refusal) => {
      expect(recordsOf([factsOf({ refusal })])).toHaveLength(1);
    },
  );

  it('may have failed upstream, or been given up by its client', () => {
    const failed = factsOf({ fault: new Fault('upstream_reset') });
    expect(recordsOf([failed, outcome({ status: 502 })])).toHaveLength(1);
    expect(recordsOf([factsOf(), outcome({ status: 499, aborted: true })])).toHaveLength(1);
  });

  it('may come after the sunset, by exception or where the API is only observed', () => {
    expect(recordsOf([factsOf({ now: SUNSET })])).toHaveLength(1);
    expect(recordsOf([factsOf({ now: SUNSET, observed: 'version_retired' })])).toHaveLength(1);
  });

  it('may be of an active version that is frozen: who came before it is deprecated matters', () => {
    const active = factsOf({ now: Date.UTC(2025, 0, 1) });
    expect(recordsOf([active])).toEqual([]);
    const frozen = withFacts(active, { version: { ...version({ access: ACCESS }), freeze: NOW } });
    expect(recordsOf([frozen])).toHaveLength(1);
  });
});

describe('no call is counted', () => {
  const open = { access: { kind: 'public' } } as const;
  it.each<[string, ExchangeFacts]>([
    ['without a version', factsOf({ version: undefined, phase: undefined })],
    ['of an active version', factsOf({ now: Date.UTC(2025, 0, 1) })],
    ['of a planned version', factsOf({ now: Date.UTC(2023, 0, 1) })],
    ['of nobody known where only who is known may call', factsOf({ consumer: undefined })],
    ['without the scope', factsOf({ refusal: 'scope_insufficient' })],
    ['of an operation that is not granted', factsOf({ refusal: 'operation_not_granted' })],
    ['with a bad token', factsOf({ consumer: undefined, refusal: 'token_invalid' })],
    ['answered 410', factsOf({ now: SUNSET, refusal: 'version_retired' })],
    ['sent elsewhere', factsOf({ now: SUNSET, refusal: 'version_moved' })],
    ['answered 410 to anybody', factsOf({ rules: open, now: SUNSET, refusal: 'version_retired' })],
    ['in a brownout for anybody', factsOf({ rules: open, consumer: undefined, refusal: 'brownout' })],
    ['in maintenance', factsOf({ rules: open, consumer: undefined, refusal: 'maintenance' })],
  ])('%s', (_which, facts) => {
    expect(recordsOf([facts])).toEqual([]);
  });
});

describe('the tally', () => {
  it('has no room for more subjects than it is given, and says how many calls that cost', () => {
    const tally = createUsageTally(3);
    for (const id of ['a', 'b', 'c', 'd', 'a', 'd', 'e'])
      tally.record(factsOf({ consumer: { ...acme, id } }), outcome());
    expect([tally.size(), tally.counted(), tally.dropped()]).toEqual([3, 4, 3]);
    expect(takenFrom(tally).map(({ consumer }) => consumer)).toEqual(['a', 'b', 'c']);
    expect([tally.size(), tally.counted(), tally.dropped()]).toEqual([0, 4, 3]);
    tally.record(factsOf({ consumer: { ...acme, id: 'd' } }), outcome());
    expect(takenFrom(tally)).toHaveLength(1);
  });

  it('begins anew when it is taken', () => {
    const tally = createUsageTally();
    const facts = factsOf();
    tally.record(facts, outcome());
    expect(takenFrom(tally)).toHaveLength(1);
    expect(takenFrom(tally)).toEqual([]);
    tally.record(facts, outcome());
    expect(takenFrom(tally)).toMatchObject([{ callsByDay: { '2026-11-20': 1 } }]);
  });
});

describe('versions that are watched', () => {
  const dates = (deprecated: number): Partial<VersionRules> => {
    const schedule: Schedule = { ...version().schedule, deprecated };
    return { schedule, phases: createPhases(schedule, { label: 'v', form: 'rfc9745', warning: true }) };
  };
  const operation = version({ operation: 'GET /search' });
  const operations = { list: [operation], match: () => undefined, reached: () => NO_MATCHES };

  it('are those deprecated, frozen, or with a deprecated operation, also where nobody calls', () => {
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

  it('are looked up again when a date or the plan has changed, or the clock was set back, and only then', () => {
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
  it('says to its store that nobody counts, and says it again until the store has heard', async () => {
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
