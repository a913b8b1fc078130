// Stored pins: by a first call, by an upgrade, and for an account that a claim names.
import { describe, expect, it } from 'vitest';
import type { Fixture } from './fixture.ts';

export function stored({ ask, clock, gateway, holding, made, upgrade, versionFor }: Fixture): void {
  describe('an account without a creation day', () => {
    it('keeps the version of its first call when a newer one is released', async () => {
      const fresh = await holding('first-call');
      expect(await versionFor(fresh)).toBe('2026-06-01');
      clock.now = Date.UTC(2026, 11, 1);
      expect(await versionFor(fresh)).toBe('2026-06-01');
      expect(await versionFor(await holding('later-call'))).toBe('2026-12-01');
    });

    it('gets one version for many concurrent first calls', async () => {
      const fresh = await holding('many-calls');
      const versions = await Promise.all(Array.from({ length: 20 }, () => versionFor(fresh)));
      expect(new Set(versions)).toEqual(new Set(['2026-06-01']));
    });

    it.each([['last year'], ['2025-02-30'], [1_741_910_400_000], [null], [['2025-03-14']]])(
      'may have an invalid creation day, which is ignored: %j',
      async (day) => {
        const id = `unreadable-${JSON.stringify(day)}`;
        expect(await versionFor(await holding(id, { account_created: day }))).toBe('2026-06-01');
      },
    );

    it('is not pinned by a first call that is refused', async () => {
      const reader = await holding('refused-first', { scope: 'orders:read' });
      expect(await versionFor(reader, { method: 'POST', body: '{}' })).toBe('403 scope_insufficient');
      clock.now = Date.UTC(2026, 11, 1);
      expect(await versionFor(reader)).toBe('2026-12-01');
    });

    it('is not pinned by a request that names its version', async () => {
      const fresh = await holding('header-first');
      expect(await versionFor(fresh, { headers: { 'API-Version': '2024-09-01' } })).toBe('2024-09-01');
      clock.now = Date.UTC(2026, 11, 1);
      expect(await versionFor(fresh)).toBe('2026-12-01');
    });
  });

  describe('an upgrade', () => {
    it('applies from the next request on, instead of the creation day', async () => {
      const acme = await made('2025-03-14', 'upgrader');
      expect(await versionFor(acme)).toBe('2024-09-01');
      expect(await upgrade('payments', 'upgrader', '2025-09-15')).toBe(200);
      expect(await versionFor(acme)).toBe('2025-09-15');
      clock.now = Date.UTC(2027, 2, 1);
      expect(await versionFor(acme)).toBe('2025-09-15');
    });

    it('replaces the pin of a first call', async () => {
      const caller = await holding('upgraded-then-ended', { account_id: 'upgraded' });
      expect(await versionFor(caller, { path: '/api/transfers' })).toBe('2026-06-01');
      clock.now = Date.UTC(2026, 11, 1);
      expect(await upgrade('transfers', 'upgraded', '2026-12-01')).toBe(200);
      expect(await versionFor(caller, { path: '/api/transfers' })).toBe('2026-12-01');
    });
  });

  describe('an account that a claim names', () => {
    const transfers = { path: '/api/transfers' };

    it('shares its pin among all consumers', async () => {
      expect(await versionFor(await holding('desk-1', { account_id: 'shared' }), transfers)).toBe(
        '2026-06-01',
      );
      clock.now = Date.UTC(2026, 11, 1);
      expect(await versionFor(await holding('desk-2', { account_id: 'shared' }), transfers)).toBe(
        '2026-06-01',
      );
      expect(await versionFor(await holding('desk-1', { account_id: 'other' }), transfers)).toBe(
        '2026-12-01',
      );
    });

    it.each([
      ['missing', undefined],
      ['empty', ''],
      ['a list', ['a']],
      ['of two lines', 'a\nb'],
      ['too long', 'a'.repeat(257)],
    ])('gets 401 if the claim is %s, unless the request names its version', async (_name, account) => {
      const caller = await holding('nameless', { account_id: account });
      const answer = await ask(caller, transfers);
      expect(answer).toMatchObject({
        status: 401,
        json: { message: 'The access token names no account.' },
        headers: { 'www-authenticate': expect.stringContaining('error="invalid_token"') },
      });
      expect(await gateway().accessLine(answer.headers['x-request-id'])).toMatchObject({
        token_flaw: 'account',
      });
      expect(await versionFor(caller, { path: '/api/2025-09-15/transfers' })).toBe('2025-09-15');
    });

    it('VER-3: gets the version that Accept names, else its pin', async () => {
      const caller = await holding('ranges', { account_id: 'ranges' });
      const accept = (value: string) => ({ ...transfers, headers: { accept: value } });
      expect(await versionFor(caller, accept('*/*'))).toBe('2026-06-01');
      expect(await versionFor(caller, accept('application/vnd.acme.2025-09-15+json'))).toBe('2025-09-15');
      expect(await versionFor(caller, accept('application/vnd.acme.2024-01-01+json'))).toBe(
        '406 version_unknown',
      );
    });

    it('RET-5: is redirected from its retired version to the path of the next, privately', async () => {
      const caller = await holding('mover', { account_id: 'mover' });
      expect(await versionFor(caller, transfers)).toBe('2026-06-01');
      clock.now = Date.UTC(2028, 0, 1);
      const answer = await ask(caller, { path: '/api/transfers/7?x=1' });
      expect(answer).toMatchObject({
        status: 301,
        headers: {
          location: 'https://127.0.0.1/api/2026-12-01/transfers/7?x=1',
          'cache-control': 'private, max-age=60',
        },
      });
      expect(await versionFor(caller, { path: '/api/2026-12-01/transfers/7' })).toBe('2026-12-01');
    });
  });
}
