// The usage pages of the admin API for a small plan at a fixed instant, with a ledger in the embedded store.
import { expect } from 'vitest';
import type { AdminAnswer } from '../../gateway/admin/answers.ts';
import type { AdminWriteResult } from '../../gateway/admin/route.ts';
import { type UsagePorts, usageRoutes } from '../../gateway/admin/usage.ts';
import { readUsageAnswer, type UsageAnswer } from '../../gateway/api/usage-answers.ts';
import type { LedgerStore, UsageBatch, UsageRecord } from '../../gateway/policy/usage/ledger.ts';
import { openEmbeddedStores } from '../support/embedded-stores.ts';
import { api, NOW as MIDNIGHT, plan, version } from '../support/exchange-samples.ts';

const NOW = MIDNIGHT + 43_200_000;
export const at = (day: string) => Date.parse(`${day}T00:00:00Z`);

const record = (more: Partial<UsageRecord> = {}): UsageRecord => ({
  consumer: 'acme',
  via: 'token',
  api: 'orders',
  version: 'v1',
  operation: undefined,
  firstAt: at('2026-08-01'),
  lastAt: at('2026-11-19'),
  callsByDay: { '2026-08-01': 1, '2026-11-19': 3 },
  agents: ['curl/8'],
  sample: { method: 'GET', template: '/api/v1/orders/*', requestId: 'r1' },
  ...more,
});
const LATE = { firstAt: at('2026-11-10'), callsByDay: { '2026-11-10': 5 }, lastAt: at('2026-11-10') };
/** More rows than a page has, of an API without a policy. */
export const CROWD = Array.from({ length: 650 }, (_, index) =>
  record({
    api: 'zoo',
    consumer: `client-${String(index).padStart(3, '0')}`,
    callsByDay: { '2026-11-19': 2 },
  }),
);

const v0 = version({ label: 'v0' });
const going = version({
  exceptions: [
    {
      consumer: 'acme',
      until: at('2027-06-30'),
      from: ['brownouts', 'sunset'],
      why: 'contract 4711',
      by: 'api-team',
      phases: [],
    },
    { consumer: 'initech', until: at('2026-11-01'), from: ['limits'], why: 'x', by: 'y', phases: [] },
    { consumer: 'hooli', until: at('2026-12-01'), from: ['limits'], why: 'x', by: 'y', phases: [] },
  ],
});
const young = version({ label: 'v2' });
const PLAN = plan([api([v0, going, young])]);

export interface UsageFixture extends AsyncDisposable {
  readonly ledger: LedgerStore;
  readonly routes: (recordsUsage?: boolean, changes?: Partial<UsagePorts>) => ReturnType<typeof usageRoutes>;
  readonly look: (query: string, accept?: string, recordsUsage?: boolean) => Promise<AdminAnswer>;
  /** The body of `look`, parsed as a client parses it. */
  readonly usage: (query?: string) => Promise<UsageAnswer>;
  readonly erase: (query: string, body?: unknown) => Promise<AdminWriteResult>;
}

export async function openUsage(): Promise<UsageFixture> {
  const stack = new AsyncDisposableStack();
  const { stores } = stack.use(await openEmbeddedStores());
  const records = [
    record(),
    record({ operation: 'GET /search', ...LATE }),
    record({ consumer: '203.0.113.9', via: 'address', ...LATE }),
    record({ consumer: '=cmd|"/c calc"', via: 'key', ...LATE }),
    record({ api: 'lost', consumer: 'acme', ...LATE }),
    record({ consumer: 'hooli', callsByDay: { '2026-08-01': 7 }, lastAt: at('2026-08-01') }),
    ...CROWD,
  ];
  const orders = (label: string) => ({ api: 'orders', version: label });
  const first: Partial<UsageBatch> = { at: at('2026-08-01'), watched: [orders('v0'), orders('v1')] };
  await stores.ledger.add({ writer: 'w', number: 1, ...first, records: [] } as UsageBatch);
  const parts = [records.slice(0, 200), records.slice(200, 400), records.slice(400, 600), records.slice(600)];
  for (const [index, part] of parts.entries()) {
    const watched = index === 0 ? [orders('v2')] : [];
    await stores.ledger.add({ writer: 'w', number: index + 2, at: at('2026-11-15'), watched, records: part });
  }
  const routes = (recordsUsage = true, changes: Partial<UsagePorts> = {}) =>
    usageRoutes({
      plan: () => PLAN,
      now: () => NOW,
      monotonic: () => performance.now(),
      overrides: { current: () => [] },
      ledger: stores.ledger,
      recordsUsage,
      readiness: () => ({ store: { state: 'up' } }),
      keptFrom: () => undefined,
      ...changes,
    });

  const look: UsageFixture['look'] = async (query, accept, recordsUsage = true) => {
    const route = routes(recordsUsage).find(({ method }) => method === 'GET');
    if (route?.method !== 'GET') throw new Error('no such page');
    return route.show({ parameter: () => '', query: new URLSearchParams(query), accept, body: undefined });
  };

  const usage: UsageFixture['usage'] = async (query = '') => {
    const { status, body } = await look(query);
    expect(status).toBe(200);
    const answer = readUsageAnswer(JSON.parse(body));
    if (answer === undefined) throw new Error('not as it should be');
    return answer;
  };

  const erase: UsageFixture['erase'] = async (query, body) => {
    const route = routes().find(({ method }) => method === 'DELETE');
    if (route?.method !== 'DELETE') throw new Error('no such write');
    return route.perform({ parameter: () => '', query: new URLSearchParams(query), accept: undefined, body });
  };
  const close = () => stack.disposeAsync();
  return { ledger: stores.ledger, routes, look, usage, erase, [Symbol.asyncDispose]: close };
}
