// A consumer's own usage asked for with an API key: what the ledger is asked then. With tokens: own-usage.test.ts.
import { expect, it } from 'vitest';
import { publishReserved } from '../../gateway/exchange/publish/reserved.ts';
import type { LedgerStore, UsageFilter } from '../../gateway/policy/usage/ledger.ts';
import { api, deprecatedFacts, NOW, plan, version, view } from '../support/exchange-samples.ts';

it('a key is asked about by its own calls: a token may prove an id that is spelled like its holder', async () => {
  const filters: UsageFilter[] = [];
  const read: LedgerStore['read'] = async (filter) => {
    filters.push(filter);
    return { records: [], next: undefined };
  };
  const acme = { id: 'acme', named: true, via: 'key', scopes: new Set<string>(), claims: {} } as const;
  const keys = {
    via: 'key' as const,
    field: 'X-API-Key',
    isPresent: () => true,
    claims: () => true,
    judge: () => ({ kind: 'consumer', consumer: acme }) as const,
  };
  const current = plan([api([version()])]);
  const path = '/.well-known/lifecycle/usage.json';
  const ports = { wallClock: () => NOW, ledger: { read }, authenticators: new Map([['keys', keys]]) };
  const facts = { ...deprecatedFacts(), plan: current };
  const directive = await publishReserved(
    current,
    view({ path, headers: { 'x-api-key': 'k' } }),
    facts,
    ports,
  );
  expect(directive?.kind).toBe('publish');
  expect(filters).toEqual([{ consumer: 'acme', via: 'key', since: '2026-08-22' }]);
});
