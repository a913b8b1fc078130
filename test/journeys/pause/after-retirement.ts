// Pauses after the retirement: what is served again, with which headers, and what no pause can serve.
import { describe, expect, it } from 'vitest';
import { at, type Fixture, ORDERS, TODAY, WEEK_LATER } from './fixture.ts';

export function afterRetirement({ askAt, begin, clock, end, gateway }: Fixture): void {
  describe('a pause after the retirement', () => {
    const path = '/api/v1/orders/7';
    const POST = { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } };

    it('RET-1: serves a redirected version again, for every method, and then redirects again', async () => {
      const statusesOf = async (instant: number) => [
        (await askAt(instant, path)).status,
        (await askAt(instant, path, { method: 'HEAD' })).status,
        (await askAt(instant, path, POST)).status,
      ];
      expect(await statusesOf(TODAY)).toEqual([301, 301, 308]);
      await begin(TODAY, { api: 'orders', until: WEEK_LATER });
      expect(await statusesOf(TODAY)).toEqual([200, 200, 200]);
      expect(await statusesOf(WEEK_LATER - 1)).toEqual([200, 200, 200]);
      expect(await statusesOf(WEEK_LATER)).toEqual([301, 301, 308]);
    });

    it('SUN-2, WARN-3: sends its end as Sunset, with the stage deprecated', async () => {
      await begin(TODAY, { api: 'orders', version: 'v1', until: WEEK_LATER });
      const answer = await askAt(TODAY, path);
      expect(answer.headers).toMatchObject({
        sunset: 'Fri, 27 Nov 2026 00:00:00 GMT',
        deprecation: '@1736899200',
        warning:
          '299 - "Version v1 is deprecated and will be removed on 2026-11-27; see https://docs.example.com/orders/v1-to-v3"',
        link: expect.stringContaining('<https://127.0.0.1/api/v3/orders/7>; rel="successor-version"'),
      });
      expect(await gateway().accessLine(answer.headers['x-request-id'])).toMatchObject({
        status: 200,
        version: 'v1',
        stage: 'deprecated',
      });
      const of = (name: string, more = '') => gateway().metric(`${name}{api="orders",version="v1"${more}}`);
      expect(await of('sundial_version_paused')).toBe(1);
      expect(await of('sundial_version_info', ',stage="deprecated",successor="v3"')).toBe(1);
      expect(await of('sundial_version_sunset_timestamp_seconds')).toBe(WEEK_LATER / 1000);
      clock.now = WEEK_LATER;
      expect(await of('sundial_version_paused')).toBe(0);
      expect(await of('sundial_version_info', ',stage="retired",successor="v3"')).toBe(1);
    });

    it('RET-11: does not affect a version without an upstream: its 410 stays', async () => {
      await begin(TODAY, { api: 'orders', until: WEEK_LATER });
      const answer = await askAt(TODAY, '/api/v0/orders/7');
      expect(answer).toMatchObject({ status: 410, headers: { sunset: 'Sat, 01 Feb 2025 00:00:00 GMT' } });
      expect(await gateway().metric('sundial_version_paused{api="orders",version="v0"}')).toBe(0);
    });

    it('RET-11: a version without an upstream gets 410 with an earlier clock too', async () => {
      const early = at('2024-06-01T00:00:00Z');
      const answer = await askAt(early, '/api/v0/orders/7');
      expect(answer).toMatchObject({
        status: 410,
        headers: { sunset: 'Sat, 01 Feb 2025 00:00:00 GMT', 'cache-control': 'max-age=60' },
        json: { message: 'API version v0 was retired on 2025-02-01.' },
      });
      expect(answer.headers.warning).toBeUndefined();
      expect(
        await gateway().metric(
          'sundial_version_info{api="orders",version="v0",stage="retired",successor=""}',
        ),
      ).toBe(1);
      const { versions } = (await askAt(early, ORDERS)).json as {
        versions: readonly { readonly version: string; readonly stage: string }[];
      };
      expect(versions.find(({ version }) => version === 'v0')).toMatchObject({ stage: 'retired' });
    });

    it('STAT-1: serves a forgotten version again', async () => {
      const ask = () => askAt(TODAY, '/quotes/7', { headers: { 'api-version': 'v1' } });
      expect(await ask()).toMatchObject({ status: 400, json: { supportedVersions: ['v2'] } });
      const id = await begin(TODAY, { api: 'quotes', until: WEEK_LATER });
      expect(await ask()).toMatchObject({
        status: 200,
        headers: { sunset: 'Fri, 27 Nov 2026 00:00:00 GMT' },
      });
      await end(id);
      expect((await ask()).status).toBe(400);
    });
  });
}
