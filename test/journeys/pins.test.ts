// Dated versions with pins: which version an account gets, for how long, and who may cache the response.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { creationDay } from './pins/creation-day.ts';
import { createFixture, DAY, told } from './pins/fixture.ts';
import { stored } from './pins/stored.ts';

const fixture = createFixture();
const { ask, gateway, made, versionFor } = fixture;
beforeAll(fixture.open);
afterAll(fixture.close);
beforeEach(() => {
  fixture.clock.now = DAY;
});

creationDay(fixture);
stored(fixture);

describe('authentication before the version', () => {
  it('a request without version and token gets 401; one with a retired version gets 410', async () => {
    expect(await versionFor({})).toBe('401 credentials_missing');
    expect(await versionFor({ 'API-Version': '2023-01-01' })).toBe('410 version_retired');
    expect(await versionFor({ authorization: 'Bearer a.b.c' })).toBe('401 token_invalid');
  });

  it('ORD-4: a preflight is answered before authentication', async () => {
    const headers = {
      origin: 'https://app.example.com',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization, api-version',
    };
    expect(await ask(headers, { method: 'OPTIONS' })).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': 'https://app.example.com',
        'access-control-allow-headers': 'authorization, api-version',
      },
    });
  });
});

describe('match: exact, with a default, in observe mode', () => {
  const quotes = { path: '/api/quotes' };
  const version = async (day: string) => {
    const answer = await ask(await made(day), quotes);
    const line = await gateway().accessLine(answer.headers['x-request-id']);
    expect(answer.headers['cache-control']).toBe('private');
    return [answer.status, line.version, line.carrier, line.would_refuse];
  };

  it('pins an account created on the day of a version to it, past its sunset too', async () => {
    expect(await version('2024-09-01')).toEqual([200, '2024-09-01', 'pin', 'version_retired']);
  });

  it('gives other accounts the default, and makes all responses private', async () => {
    expect(await version('2025-10-01')).toEqual([200, '2026-06-01', 'default', undefined]);
    const open = await ask(await made('2025-10-01'), {
      ...quotes,
      headers: { 'Quotes-Version': '2026-06-01' },
    });
    expect(open.headers['cache-control']).toBe('private');
  });
});

describe('CACHE-3: responses to two accounts from one URL', () => {
  const upstreamSays = (value: string, more = '') =>
    `/api/payments?header=${encodeURIComponent(`Cache-Control:${value}`)}${more}`;

  it.each([
    ['public, max-age=60', 'private, max-age=60'],
    ['s-maxage=600', 'private'],
    ['public, s-maxage=600, must-revalidate', 'private, must-revalidate'],
    ['Public="x", S-MaxAge = 600, ext="a, public"', 'private, ext="a, public"'],
    ['private="Set-Cookie", max-age=60', 'private, max-age=60'],
    ['private, max-age=60', 'private, max-age=60'],
    ['no-store', 'no-store'],
    ['public, no-store', 'no-store'],
  ])('are private: %s becomes %s, on 200, HEAD and 304', async (value, expected) => {
    const [old, young] = [await made('2025-10-14'), await made('2026-10-14')];
    for (const headers of [old, young]) {
      for (const more of [{}, { method: 'HEAD' }, { path: upstreamSays(value, '&status=304') }]) {
        const answer = await ask(headers, { path: upstreamSays(value), ...more });
        expect(answer.headers['cache-control']).toBe(expected);
        expect(answer.headers.vary).toContain('API-Version');
      }
    }
    const bodies = [
      await ask(old, { path: upstreamSays(value) }),
      await ask(young, { path: upstreamSays(value) }),
    ];
    expect(bodies.map(told)).toEqual([['2025-09-15'], ['2026-06-01']]);
  });

  it.each([
    ['max-age=172800', 'private, max-age=86400'],
    ['max-age=86400', 'private, max-age=86400'],
    ['no-cache', 'private, no-cache'],
  ])(
    'CACHE-6: are fresh for one day at most, because a pin can move: %s becomes %s',
    async (value, expected) => {
      const answer = await ask(await made('2026-10-14'), { path: upstreamSays(value) });
      expect(answer.headers['cache-control']).toBe(expected);
    },
  );

  it('CACHE-6: are fresh for one day at most by a heuristic too', async () => {
    const path = `/api/payments?header=${encodeURIComponent('Last-Modified:Sat, 01 Jan 2000 00:00:00 GMT')}`;
    const answer = await ask(await made('2026-10-14'), { path });
    expect(answer.headers['cache-control']).toBe('private, max-age=86400');
  });

  it('are not stored by a CDN with its own field', async () => {
    const fields = [
      'CDN-Cache-Control:public, max-age=600',
      'Acme-CDN-Cache-Control:max-age=600',
      'Akamai-Cache-Control:max-age=600',
      'Edge-Control:max-age=600',
      'Surrogate-Control:max-age=600',
    ];
    const query = fields.map((field) => `header=${encodeURIComponent(field)}`).join('&');
    expect((await ask(await made('2026-10-14'), { path: `/api/payments?${query}` })).headers).toMatchObject({
      'cache-control': 'private',
      'cdn-cache-control': 'no-store',
      'acme-cdn-cache-control': 'no-store',
      'akamai-cache-control': 'no-store',
      'edge-control': 'no-store',
      'surrogate-control': 'no-store',
    });
  });

  it('have no maximum of a pin if the request names the version', async () => {
    const headers = { ...(await made('2025-10-14')), 'API-Version': '2026-06-01' };
    const answer = await ask(headers, { path: upstreamSays('public, max-age=172800') });
    expect(answer.headers['cache-control']).toBe('private, max-age=172800');
  });
});
