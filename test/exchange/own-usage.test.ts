// A consumer's own usage: which consumer is queried, and versions that no policy has.
import { describe, expect, it } from 'vitest';
import type { ExchangePorts } from '../../gateway/exchange/ports.ts';
import { publishReserved } from '../../gateway/exchange/publish/reserved.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import type { AccessRule, Authenticator, Consumer } from '../../gateway/policy/authentication/access.ts';
import { tokenAuthenticator } from '../../gateway/policy/authentication/token-authenticator.ts';
import type { LedgerStore, UsageFilter, UsageRecord } from '../../gateway/policy/usage/ledger.ts';
import { api, deprecatedFacts, NOW, plan, version, view } from '../support/exchange-samples.ts';

const WITH_TOKEN: AccessRule = {
  kind: 'identified',
  identities: ['main'],
  schemes: [{ scheme: 'Bearer', issuers: [] }],
  anonymous: false,
  vary: 'Authorization',
  scopes: { read: [], write: [] },
};
const PATH = '/.well-known/lifecycle/usage.json';
const ACME: Consumer = { id: 'acme', mayLabelMetrics: true, via: 'token', scopes: new Set(), claims: {} };
const TOKEN = { authorization: 'Bearer good' };
const exceptions = [leave('acme', NOW), leave('acme', NOW + 1), leave('x', NOW + 1)];
const PLAN = plan([api([version({ exceptions, access: WITH_TOKEN })])]);

function leave(consumer: string, until: number) {
  return { consumer, until, from: ['brownouts'], why: 'secret of ours', by: 'us', phases: [] } as const;
}

const record = (more: Partial<UsageRecord> = {}): UsageRecord => ({
  consumer: 'acme',
  via: 'token',
  api: 'orders',
  version: 'v1',
  operation: undefined,
  firstAt: NOW,
  lastAt: NOW,
  callsByDay: { '2026-11-20': 1 },
  agents: [],
  sample: undefined,
  ...more,
});

const authenticator = (): Authenticator =>
  tokenAuthenticator(() => NOW, {
    claims: () => true,
    verify: () => ({ kind: 'consumer', consumer: ACME }) as const,
  });
const byKey: Authenticator = {
  via: 'key',
  field: 'X-API-Key',
  isPresent: ({ headers }) => headers.get('x-api-key') !== undefined,
  claims: () => true,
  judge: () => ({ kind: 'consumer', consumer: { ...ACME, via: 'key' } }),
};
const AUTHENTICATORS: ExchangePorts['authenticators'] = new Map([
  ['main', authenticator()],
  ['keys', byKey],
]);

interface Asking {
  readonly next?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly authenticators?: ExchangePorts['authenticators'];
  readonly ofPlan?: GatewayPlan;
}

async function ask(
  records: readonly UsageRecord[],
  { next, headers = TOKEN, authenticators = AUTHENTICATORS, ofPlan = PLAN }: Asking = {},
) {
  const filters: UsageFilter[] = [];
  const read: LedgerStore['read'] = async (filter) => {
    filters.push(filter);
    return { records, next };
  };
  const ports = { wallClock: () => NOW, ledger: { read }, authenticators };
  const { start } = deprecatedFacts({ plan: ofPlan });
  const published = await publishReserved(ofPlan, view({ path: PATH, headers }), start, ports);
  const { directive, consumer } = published ?? {};
  const body = directive?.kind === 'publish' ? JSON.parse(directive.publication.body) : undefined;
  return { directive, body, filters, consumer };
}

describe('a consumer’s own usage', () => {
  it('is queried by consumer id and kind of credential, because an id can equal an address', async () => {
    const { filters, consumer } = await ask([]);
    expect(filters).toEqual([{ consumer: 'acme', via: 'token', since: '2026-08-22' }]);
    expect(consumer).toBe(ACME);
  });

  it('is queried by API key if the request has one', async () => {
    const { filters } = await ask([], { headers: { 'x-api-key': 'good' } });
    expect(filters).toEqual([{ consumer: 'acme', via: 'key', since: '2026-08-22' }]);
  });

  it('lists current exceptions without their reason', async () => {
    const { body } = await ask([record()]);
    expect(body.versions[0].exceptions).toEqual([{ from: ['brownouts'], until: '2026-11-20T00:00:00.001Z' }]);
    expect(JSON.stringify(body)).not.toContain('secret of ours');
  });

  it('has no dates for a version that no policy has', async () => {
    const { body } = await ask([record({ api: 'lost', operation: 'GET /' })]);
    const calls = { calls: 1, last_call: '2026-11-20T00:00:00Z' };
    expect(body.versions).toEqual([
      { api: 'lost', version: 'v1', ...calls, operations: [{ operation: 'GET /', ...calls }] },
    ]);
  });

  it('has `more: true` only if the list is incomplete', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => record({ operation: `GET /${index}` }));
    expect((await ask(many, { next: 'x' })).body).toMatchObject({ more: true });
    expect((await ask(many)).body).not.toHaveProperty('more');
  });

  it('AUTH-2: is not found if no API authenticates, because a 401 would have no challenge', async () => {
    const { directive } = await ask([], { ofPlan: plan([api([version()])]), headers: {} });
    expect(directive).toMatchObject({ kind: 'refuse', refusal: { reason: 'route_unknown' } });
  });

  it('is refused instead of incomplete if the store is too slow', async () => {
    const { directive } = await ask([record()], { next: 'x' });
    expect(directive).toMatchObject({ kind: 'refuse', refusal: { reason: 'usage_unavailable' } });
  });

  it('CACHE-3: names every field that may identify the caller in Vary', async () => {
    const key: Authenticator = { ...authenticator(), via: 'key', field: 'X-API-Key' };
    const certificate: Authenticator = { ...key, via: 'certificate' };
    const { field: _none, ...nameless } = certificate;
    const varyOf = async (authenticators: readonly Authenticator[]) => {
      const named = new Map(authenticators.map((each, index) => [String(index), each]));
      const { directive } = await ask([], { authenticators: named });
      return directive?.kind === 'publish' ? directive.publication.headers.vary : directive;
    };
    expect(await varyOf([authenticator()])).toBe('Authorization');
    expect(await varyOf([authenticator(), authenticator(), key, nameless])).toBe('Authorization, X-API-Key');
    expect(await varyOf([key])).toBe('X-API-Key');
    expect(await varyOf([nameless])).toBeUndefined();
  });

  it('is not published without an identity or without a ledger', async () => {
    const ledger = { read: async () => ({ records: [], next: undefined }) };
    const ports = { wallClock: () => NOW, ledger, authenticators: AUTHENTICATORS };
    for (const lacking of [{ authenticators: new Map() }, { ledger: undefined }]) {
      const call = view({ path: PATH, headers: TOKEN });
      expect(await publishReserved(PLAN, call, deprecatedFacts().start, { ...ports, ...lacking })).toEqual({
        directive: { kind: 'refuse', refusal: { reason: 'route_unknown' } },
      });
    }
  });
});
