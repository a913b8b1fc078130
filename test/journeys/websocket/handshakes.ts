// A handshake is judged, signalled, counted and logged like any other request.
import { describe, expect, it, vi } from 'vitest';
import { frame, TEXT } from '../../support/websocket-frames.ts';
import { at, echoes, type Fixture } from './fixture.ts';

export function handshakes({ authorization, clock, gateway, open, upstream }: Fixture): void {
  const openNow = (api: string, version: string) =>
    gateway().metric(`sundial_websocket_connections{api="${api}",version="${version}"}`);

  describe('a handshake is a request like any other', () => {
    it('WS-5, DEP-2, DEP-7: the 101 of a deprecated version has every signal, one line each', async () => {
      const live = await open('/api/v1/live/room?id=7');
      expect(live.status).toBe(101);
      expect(live.headers).toMatchObject({
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-protocol': 'chat',
        deprecation: '@1768435200',
        sunset: 'Fri, 15 Jan 2027 00:00:00 GMT',
        'x-api-deprecation-info': 'https://status.example.com/live-v1',
        'x-ratelimit-limit': '300',
        via: '1.1 sundial',
        'strict-transport-security': 'max-age=86400',
      });
      expect(live.headers.warning).toMatch(
        /^299 - "Version v1 is deprecated and will be removed on 2027-01-15/,
      );
      expect(live.headers.link).toContain('<https://docs.example.com/live/v1-to-v2>; rel="deprecation"');
      expect(live.headers.link).toContain('<https://127.0.0.1/api/v2/live/room>; rel="successor-version"');
      expect(live.headers.vary).toMatch(/API-Version/i);
      for (const name of ['deprecation', 'sunset', 'link', 'warning', 'x-request-id', 'via', 'vary'])
        expect([name, live.lines(name)]).toEqual([name, 1]);
      expect(live.lines('content-length')).toBe(0);
      await echoes(live);
      const line = await gateway().accessLine(live.headers['x-request-id']);
      expect(line).toMatchObject({
        status: 101,
        method: 'GET',
        version: 'v1',
        stage: 'deprecated',
        aborted: false,
      });
    });

    it('VER-9: the upstream gets one path and one version', async () => {
      await open('/api/live/room?x=1', { lines: ['API-Version: v2', 'Sec-WebSocket-Protocol: chat'] });
      const seen = upstream().seen.at(-1);
      expect(seen?.target).toBe('/echo/room?x=1');
      expect(seen?.headers).toMatchObject({
        'api-version': 'v2',
        'sec-websocket-protocol': 'chat',
        'x-forwarded-proto': 'https',
        'x-forwarded-host': '127.0.0.1',
      });
    });

    it('it is counted as a request, and open WebSockets are in a gauge', async () => {
      const series = 'sundial_requests_total{api="live",version="v2",stage="active",method="GET",code="101"}';
      const before = (await gateway().metric(series)) ?? 0;
      const both = [await open('/api/v2/live'), await open('/api/v2/live')];
      expect(await gateway().metric(series)).toBe(before + 2);
      await vi.waitFor(async () => expect(await openNow('live', 'v2')).toBe(2), { timeout: 20_000 });
      for (const { socket } of both) socket.end();
      await vi.waitFor(async () => expect(await openNow('live', 'v2')).toBe(0), { timeout: 20_000 });
    });

    const refusals: readonly [number, string, string, string, readonly string[]][] = [
      [410, 'version_retired', 'RET-1', '/api/v0/live', []],
      [301, 'version_moved', 'RET-1', '/api/v1/moved/room?a=b', []],
      [401, 'credentials_missing', 'ORD-3', '/api/v2/members', []],
      [404, 'version_unknown', 'STAT-1', '/api/v9/live', []],
      [400, 'version_ambiguous', 'VER-3', '/api/v1/live', ['API-Version: v2']],
      [404, 'route_unknown', 'WS-1', '/api/nothing', []],
      [421, 'host_unknown', 'SMG-7', '/api/v1/live', []],
      [400, 'credentials_in_url', 'AUTH-1', '/api/v2/members?access_token=x', []],
    ];

    it.each(refusals)(
      '%i %s is complete, and the connection closes (%s)',
      async (status, reason, _rule, path, lines) => {
        const before = upstream().seen.length;
        const host = reason === 'host_unknown' ? 'other.example.com' : '127.0.0.1';
        const refused = await open(path, { host, lines, behind: frame(TEXT, 'canary', true) });
        await refused.ended();
        expect(refused.status).toBe(status);
        expect(refused.headers).toMatchObject({
          'content-type': 'application/json; charset=utf-8',
          'content-length': String(refused.body().length),
          connection: 'close',
          date: expect.stringMatching(/ GMT$/),
        });
        expect(JSON.parse(refused.body())).toHaveProperty('message');
        const line = await gateway().accessLine(refused.headers['x-request-id']);
        expect(line).toMatchObject({ status, refusal: reason, aborted: false });
        expect(upstream().seen.length).toBe(before);
      },
    );

    it('RET-9: the 301 leads to the same resource, and the 410 has the signals', async () => {
      const moved = await open('/api/v1/moved/room?a=b');
      expect(moved.headers.location).toBe('https://127.0.0.1/api/v2/moved/room?a=b');
      const gone = await open('/api/v0/live');
      expect(gone.headers).toMatchObject({
        deprecation: '@1704067200',
        sunset: 'Sat, 01 Feb 2025 00:00:00 GMT',
      });
    });

    it('brownout: 410 for new handshakes in its window; open WebSockets stay open', async () => {
      const live = await open('/api/v1/live');
      clock.now = at('2026-12-01T14:05:00Z');
      const refused = await open('/api/v1/live');
      await refused.ended();
      expect(refused).toMatchObject({
        status: 410,
        headers: { 'retry-after': '600', 'cache-control': 'no-store' },
      });
      expect(await gateway().accessLine(refused.headers['x-request-id'])).toMatchObject({
        refusal: 'brownout',
      });
      await echoes(live);
    });

    it('rate_limited: 429 over the limit of its consumer', async () => {
      const lines = [authorization('acme')];
      const first = await open('/api/v2/members', { lines });
      expect(first).toMatchObject({ status: 101, headers: { 'x-ratelimit-remaining': '0' } });
      expect(upstream().seen.at(-1)?.headers).not.toHaveProperty('authorization');
      const second = await open('/api/v2/members', { lines });
      await second.ended();
      expect(second.status).toBe(429);
      expect(Number(second.headers['retry-after'])).toBeGreaterThan(3_000);
    });

    it('mode observe: a version past its sunset is served, with signals and in the log', async () => {
      const watched = await open('/api/v1/watched');
      expect(watched).toMatchObject({ status: 101, headers: { sunset: 'Sun, 01 Feb 2026 00:00:00 GMT' } });
      const line = await gateway().accessLine(watched.headers['x-request-id']);
      expect(line).toMatchObject({ status: 101, would_refuse: 'version_retired' });
      await echoes(watched);
    });
  });
}
