// A pause in the documents, the page, the calendar, the catalog and `explain`.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runExplain } from '../../../gateway/cli/explain/explain.ts';
import type { Answer } from '../../support/http-client.ts';
import { AUTHOR, REASON } from '../../support/pauses.ts';
import { at, type Fixture, ORDERS, TODAY, WEEK_LATER } from './fixture.ts';

interface Explained {
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
}

export function pauseInDocuments({ askAt, begin, environment }: Fixture): void {
  describe('publication of a pause', () => {
    const BEFORE = at('2027-01-05T00:00:00Z');
    const UNTIL = at('2027-01-06T14:05:00Z');
    const versionsOf = ({ json }: Answer) =>
      new Map((json.versions as { version: string }[]).map((entry) => [entry.version, entry]));

    it('the document has its end, and only the rest of a brownout that it cuts', async () => {
      const before = versionsOf(await askAt(BEFORE, ORDERS));
      expect(before.get('v2')).toMatchObject({
        brownouts: [
          { from: '2027-01-05T14:00:00Z', until: '2027-01-05T14:15:00Z', status: 410 },
          { from: '2027-01-06T14:00:00Z', until: '2027-01-06T14:15:00Z', status: 410, share: 0.4 },
        ],
      });
      expect(before.get('v2')).not.toHaveProperty('paused_until');
      await begin(BEFORE, { api: 'orders', until: UNTIL });
      const paused = versionsOf(await askAt(BEFORE, ORDERS));
      expect(paused.get('v1')).toMatchObject({
        stage: 'deprecated',
        paused_until: '2027-01-06T14:05:00Z',
        sunset: '2027-01-06T14:05:00Z',
        next_change: { at: '2027-01-06T14:05:00Z', stage: 'retired' },
      });
      expect(paused.get('v2')).toMatchObject({
        paused_until: '2027-01-06T14:05:00Z',
        sunset: '2027-04-15T00:00:00Z',
        brownouts: [{ from: '2027-01-06T14:05:00Z', until: '2027-01-06T14:15:00Z', status: 410, share: 0.4 }],
      });
      for (const label of ['v0', 'v3']) expect(paused.get(label)).not.toHaveProperty('paused_until');
    });

    it('the page and the calendar have it too, without its author and reason', async () => {
      await begin(BEFORE, { api: 'orders', until: UNTIL });
      const page = await askAt(BEFORE, ORDERS, { headers: { accept: 'text/html' } });
      expect(page.text).toContain(
        'Brownouts and retirement are on hold until <time datetime="2027-01-06T14:05:00Z">',
      );
      expect(page.text).toContain('for 40% of the callers');
      const calendar = await askAt(BEFORE, `${ORDERS}.ics`);
      expect(calendar.text).not.toContain('DTSTART:20270105T140000Z');
      expect(calendar.text).toContain(
        'DTSTART:20270106T140500Z\r\nDTEND:20270106T141500Z\r\nSUMMARY:orders v2 brownout for 40% of the callers',
      );
      expect(calendar.text).toMatch(/DTSTART:20270106T140500Z\r\nSUMMARY:orders v1 sunset/);
      const served = await askAt(BEFORE, '/api/v1/orders/7');
      const everything = [await askAt(BEFORE, ORDERS), page, calendar, served]
        .map(({ text, lines }) => text + JSON.stringify(lines))
        .join();
      for (const secret of [AUTHOR, REASON, 'alice']) expect(everything).not.toContain(secret);
    });

    it('CAT-3: the catalog lists versions that are served again', async () => {
      const listed = async () => (await askAt(TODAY, '/.well-known/api-catalog')).text;
      expect(await listed()).not.toContain('/api/v1/orders');
      await begin(TODAY, { api: 'orders', until: WEEK_LATER });
      expect(await listed()).toContain('/api/v1/orders');
      expect(await listed()).not.toContain('/api/v0/orders');
    });

    it('CACHE-6: no published page is reused past its end', async () => {
      await begin(TODAY, { api: 'orders', until: TODAY + 90_000 });
      for (const path of [ORDERS, `${ORDERS}.ics`, '/.well-known/api-catalog'])
        expect((await askAt(TODAY + 30_500, path)).headers['cache-control']).toBe('max-age=59');
    });
  });

  describe('explain --paused', () => {
    it.each(['/api/v0/orders/7', '/api/v1/orders/7', '/api/v2/orders/search', '/api/v3/orders', '/quotes/7'])(
      'predicts the response to %s while it is paused',
      async (path) => {
        const forgotten = path.startsWith('/quotes');
        await begin(TODAY, { api: 'orders', until: WEEK_LATER });
        await begin(TODAY, { api: 'quotes', until: WEEK_LATER });
        const answer = await askAt(TODAY, path, forgotten ? { headers: { 'api-version': 'v1' } } : {});
        const { exitCode, text } = await runExplain({
          request: `GET ${path}`,
          headers: forgotten ? ['API-Version: v1'] : [],
          as: 'other',
          scopes: undefined,
          paused: WEEK_LATER,
          format: 'json',
          configFile: join(import.meta.dirname, '../gateway.yaml'),
          environment: {
            DATA: '/nowhere',
            STORE: 'embedded:/nowhere',
            POLICIES: join(import.meta.dirname, '*.yaml'),
            ...environment(),
          },
          now: TODAY,
          today: TODAY,
          colour: false,
        });
        expect(exitCode, text).toBe(0);
        const explained: Explained = JSON.parse(text).answer;
        expect(explained.status ?? 200).toBe(answer.status);
        for (const name of ['sunset', 'deprecation', 'warning', 'link', 'x-api-deprecation-info'])
          expect(answer.headers[name]).toBe(explained.headers[name]);
      },
    );
  });
}
