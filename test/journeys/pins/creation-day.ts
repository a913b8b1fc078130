// Accounts with a creation day: the version of that day, its signals, and its end.
import { describe, expect, it } from 'vitest';
import { overHttp2 } from '../../support/http-client.ts';
import type { Fixture } from './fixture.ts';

export function creationDay({ ask, client, clock, gateway, holding, made, versionFor }: Fixture): void {
  describe('an account with a creation day', () => {
    it.each([
      ['2024-09-01', '2024-09-01'],
      ['2025-03-14', '2024-09-01'],
      ['2025-09-14T23:59:59Z', '2024-09-01'],
      ['2025-09-15T00:00:00Z', '2025-09-15'],
      ['2026-11-20', '2026-06-01'],
      ['2030-01-01', '2026-06-01'],
    ])('VER-5: created on %s stays on %s', async (day, version) => {
      expect(await versionFor(await made(day))).toBe(version);
    });

    it('gets its version by the pin, in the log and in the metric', async () => {
      const series = 'sundial_version_resolutions_total{api="payments",carrier="pin",outcome="matched"}';
      const before = (await gateway().metric(series)) ?? 0;
      const answer = await ask(await made('2025-03-14'));
      expect(await gateway().accessLine(answer.headers['x-request-id'])).toMatchObject({
        carrier: 'pin',
        version: '2024-09-01',
        stage: 'deprecated',
      });
      expect(await gateway().metric(series)).toBe(before + 1);
    });

    it('has no stored pin: another creation day selects another version', async () => {
      expect(await versionFor(await made('2025-03-14', 'corrected'))).toBe('2024-09-01');
      expect(await versionFor(await made('2025-10-01', 'corrected'))).toBe('2025-09-15');
    });

    it('keeps its version when newer ones are released', async () => {
      const acme = await made('2025-10-01');
      expect(await versionFor(acme)).toBe('2025-09-15');
      clock.now = Date.UTC(2031, 0, 1);
      expect(await versionFor(acme)).toBe('2025-09-15');
    });

    it('gets the signals of its version on HEAD and GET, over HTTP/1.1 and HTTP/2', async () => {
      const acme = await made('2025-03-14');
      await using second = overHttp2(gateway().https);
      for (const each of [client(), second]) {
        for (const method of ['GET', 'HEAD']) {
          const answer = await each.ask({ path: '/api/payments', method, headers: acme });
          expect(answer).toMatchObject({
            status: 200,
            headers: {
              deprecation: '@1757894400',
              sunset: 'Mon, 01 Mar 2027 00:00:00 GMT',
              vary: expect.stringContaining('API-Version'),
              'cache-control': 'private',
            },
          });
        }
      }
    });

    it('VER-3: gets another version for one request with a header, without a conflict', async () => {
      const acme = await made('2025-03-14');
      expect(await versionFor(acme, { headers: { 'API-Version': '2026-06-01' } })).toBe('2026-06-01');
      expect(await versionFor(acme)).toBe('2024-09-01');
    });

    it.each([
      ['2025-01-01', '400 version_unknown'],
      ['2026-12-01', '400 version_unknown'],
      ['2022-01-01', '400 version_unknown'],
      ['latest', '400 version_malformed'],
      ['2023-01-01', '410 version_retired'],
      ['2025-09-15, 2026-06-01', '400 version_ambiguous'],
    ])('VER-3: never gets its pin for the header %s, but %s', async (header, outcome) => {
      expect(await versionFor(await made('2025-03-14'), { headers: { 'API-Version': header } })).toBe(
        outcome,
      );
    });

    it('gets 410 when its version retires, with the reason and the successor', async () => {
      const acme = await made('2025-03-14');
      clock.now = Date.UTC(2027, 2, 1) - 1;
      expect(await versionFor(acme)).toBe('2024-09-01');
      clock.now += 1;
      const answer = await ask(acme);
      expect(answer).toMatchObject({
        status: 410,
        json: {
          message:
            'API version 2024-09-01 was retired on 2027-03-01. Its successor is 2025-09-15. This account is pinned to 2024-09-01: name another version in API-Version.',
        },
        headers: { 'cache-control': 'private, max-age=60', vary: 'Accept, API-Version, Origin' },
      });
      expect(await versionFor(acme, { headers: { 'API-Version': '2025-09-15' } })).toBe('2025-09-15');
    });

    it('gets the brownouts of its version', async () => {
      clock.now = Date.UTC(2027, 0, 11, 9);
      expect(await versionFor(await made('2025-03-14'))).toBe('410 brownout');
      expect(await versionFor(await made('2025-10-14'))).toBe('2025-09-15');
    });

    it('gets 400 for the forgotten oldest version if it is older than all versions', async () => {
      const answer = await ask(await made('2019-01-01'));
      expect(answer).toMatchObject({
        status: 400,
        json: {
          message:
            'There is no such version: "2022-01-01" in the pin of this account. Versions: 2026-06-01, 2025-09-15, 2024-09-01.',
        },
      });
      const line = await gateway().accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: 'version_unknown', carrier: 'pin' });
    });

    it('gets the sunsets and scopes of the operations of its version', async () => {
      const path = '/api/payments/refunds';
      expect(await versionFor(await made('2025-03-14'), { path })).toBe('410 version_retired');
      expect(await versionFor(await made('2025-10-14'), { path })).toBe('2025-09-15');
      expect(await versionFor(await made('2026-10-14'), { path })).toBe('403 scope_insufficient');
      const scope = { scope: 'orders:refund', account_created: '2026-10-14' };
      expect(await versionFor(await holding('refunder', scope), { path })).toBe('2026-06-01');
    });
  });
}
