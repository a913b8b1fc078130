// "Versioning" of the specification: one version by every carrier, deprecation signals, required notice.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { InterfaceFixture } from './fixture.ts';

const UPSTREAMS = join(import.meta.dirname, '../../../upstreams');
/** The member that identifies an order in each version. */
const MEMBER: Readonly<Record<string, string>> = { v1: 'orderNumber', v2: 'id' };

export function versioning(fixture: () => InterfaceFixture): void {
  describe('Versioning', () => {
    describe.each(['1', '2'])('version %s', (number) => {
      it.each([
        ['the path', `/api/v${number}/sales/1001`, {}],
        ['a header', '/api/sales/1001', { 'api-version': number }],
        ['a parameter of the query', `/api/sales/1001?version=${number}`, {}],
        ['the host', '/api/sales/1001', { host: `v${number}.sales.example.com` }],
        ['a media type', '/api/sales/1001', { accept: `application/vnd.sundial.v${number}+json` }],
        [
          'a parameter of a media type',
          '/api/sales/1001',
          { accept: `application/vnd.sundial+json;version=${number}` },
        ],
      ])('is selected by %s', async (_carrier, path, headers) => {
        const answer = await fixture().ask(path, { headers, anonymous: true });
        expect(answer.status).toBe(200);
        expect(answer.json).toHaveProperty(MEMBER[`v${number}`] ?? '');
        expect(answer.headers.deprecation).toBe(number === '1' ? '@1768435200' : undefined);
      });
    });

    it('DEP-1, WARN-1, XDI-1: a deprecated version sends all five headers', async () => {
      const { headers } = await fixture().ask('/api/v1/sales/1001', { anonymous: true });
      expect(headers).toMatchObject({
        deprecation: '@1768435200',
        sunset: 'Fri, 15 Jan 2027 00:00:00 GMT',
        link: expect.stringMatching(/rel="deprecation".*rel="successor-version"/),
        warning: expect.stringMatching(/^299 - ".*2027-01-15/),
        'x-api-deprecation-info': 'https://status.example.com/sales-v1',
      });
    });

    it('SUN-3: an operation that is not deprecated may send Sunset', async () => {
      const sunset = 'Sat, 01 Jun 2999 00:00:00 GMT';
      const { headers } = await fixture().ask(
        `/api/echo?${new URLSearchParams({ header: `Sunset: ${sunset}` })}`,
      );
      expect(headers.sunset).toBe(sunset);
      expect(headers).not.toHaveProperty('deprecation');
    });

    it('each description has a semantic version whose major is the version of its API', () => {
      for (const major of [1, 2]) {
        const text = readFileSync(join(UPSTREAMS, `orders/v${major}.openapi.yaml`), 'utf8');
        expect(text).toMatch(new RegExp(`^  version: ${major}\\.\\d+\\.\\d+$`, 'm'));
      }
    });

    it('12 months of notice for public APIs, 6 for internal ones, and a guide are required', async () => {
      const { ask, rewriteSales } = fixture();
      const sunset = async () =>
        (await ask('/api/v1/sales/1001', { anonymous: true })).headers.sunset?.slice(5, 16);
      const ending = (day: string, audience = 'public') =>
        rewriteSales(
          (text) => `${text.replace('sunset: 2027-01-15', `sunset: ${day}`)}audience: ${audience}\n`,
        );
      expect(await ending('2027-01-14')).toBe(false);
      expect(await sunset()).toBe('15 Jan 2027');
      expect(await ending('2027-01-14', 'internal')).toBe(true);
      expect(await sunset()).toBe('14 Jan 2027');
      expect(await rewriteSales((text) => text.replace(/ {4}guide: .*\n/, ''))).toBe(false);
      expect(await sunset()).toBe('14 Jan 2027');
      expect(await rewriteSales((text) => text)).toBe(true);
    });
  });
}
