// An open WebSocket ends with its version, its token, its gateway or its peer, and with nothing else.
import { describe, expect, it, vi } from 'vitest';
import { runGateway } from '../../support/gateway.ts';
import { beginPause, endPause } from '../../support/pauses.ts';
import { closeCode } from '../../support/websocket-frames.ts';
import { at, echoes, type Fixture } from './fixture.ts';

const SUNSET = at('2027-01-15T00:00:00Z');

export function openOnes({
  authorization,
  client,
  clock,
  environment,
  gateway,
  issuer,
  open,
  upstream,
}: Fixture): void {
  describe('an open WebSocket', () => {
    it('a failure of the upstream or the client closes the other side only', async () => {
      const first = await open('/api/v2/live');
      upstream().seen.at(-1)?.socket.resetAndDestroy();
      await first.ended();
      const second = await open('/api/v2/live');
      const seen = upstream().seen.at(-1);
      second.socket.destroy();
      await vi.waitFor(() => expect(seen?.ended).toBe(true), { timeout: 20_000 });
      await echoes(await open('/api/v2/live'));
    });

    it('WS-6: is closed with 1001 when its version ends', async () => {
      clock.now = SUNSET - 1;
      const [ending, staying] = [await open('/api/v1/live'), await open('/api/v2/live')];
      await echoes(ending);
      const seen = upstream().seen.at(-2);
      clock.now = SUNSET;
      expect((await ending.received(2)).slice(1).map(closeCode)).toEqual([1001]);
      await ending.ended();
      await vi.waitFor(() => expect(seen?.frames.map(closeCode).at(-1)).toBe(1001), { timeout: 20_000 });
      const late = await open('/api/v1/live');
      expect(late.status).toBe(410);
      await echoes(staying);
    });

    it('WS-6: stays open during a pause, and is closed when the pause ends', async () => {
      clock.now = SUNSET - 1000;
      const live = await open('/api/v1/live');
      const id = await beginPause(gateway(), { api: 'live', until: SUNSET + 86_400_000 });
      clock.now = SUNSET + 1000;
      expect((await open('/api/v1/live')).status).toBe(101);
      await echoes(live);
      await endPause(gateway(), id);
      expect((await live.received(2)).slice(1).map(closeCode)).toEqual([1001]);
    });

    it('WS-6: is closed with 1008 when its token expires', async () => {
      // Expired, but within the last three seconds of the allowed clock skew.
      const exp = Math.floor(Date.now() / 1000) - 27;
      const token = await issuer().sign({ client_id: 'brief', scope: 'orders:read', iat: exp - 600, exp });
      const tied = await open('/api/v2/members', { lines: [`Authorization: Bearer ${token}`] });
      expect(tied.status).toBe(101);
      expect((await tied.received(1)).map(closeCode)).toEqual([1008]);
      await tied.ended();
    });

    it('WS-6: stays open for a consumer with an exception until its own last day', async () => {
      const lines = (id: string) => [authorization(id)];
      const acme = await open('/api/v1/members', { lines: lines('acme') });
      const other = await open('/api/v1/members', { lines: lines('other') });
      expect([acme.status, other.status]).toEqual([101, 101]);
      clock.now = SUNSET;
      expect((await other.received(1)).map(closeCode)).toEqual([1001]);
      await echoes(acme);
      clock.now = at('2027-06-30T00:00:00Z');
      expect((await acme.received(2)).slice(1).map(closeCode)).toEqual([1001]);
    });

    it('mode observe: stays open past the sunset', async () => {
      const [watched, live] = [await open('/api/v1/watched'), await open('/api/v1/live')];
      clock.now = SUNSET;
      await live.received(1);
      await echoes(watched);
    });

    it('WS-6: is closed with 1001 at a drain, which does not wait for slow clients', async () => {
      const draining = await runGateway({
        policies: 'websocket',
        lifecycleNow: () => clock.now,
        environment: environment(),
      });
      const live = await open('/api/v1/live/mute', {}, draining);
      expect(live.status).toBe(101);
      const begun = performance.now();
      await draining[Symbol.asyncDispose]();
      expect(live.frames.map(closeCode)).toEqual([1001]);
      expect(performance.now() - begun).toBeLessThan(8_000);
    });

    it('stays open over a reload', async () => {
      const live = await open('/api/v1/live');
      await gateway().reload();
      await echoes(live);
      expect((await client().ask({ path: '/api/v1/live' })).status).toBe(200);
    });
  });
}
