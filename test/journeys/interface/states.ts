// "States and transitions" of the specification: a version from active to retired by date, and extensions.
import { describe, expect, it } from 'vitest';
import type { InterfaceFixture } from './fixture.ts';

const at = (text: string): number => Temporal.Instant.from(text).epochMilliseconds;
const PATH = '/api/v1/sales/1002';
const PUBLISHED = '    sunset: 2027-01-15\n';

export function states(fixture: () => InterfaceFixture): void {
  const show = async (instant: string) => {
    const { status, headers } = await fixture().ask(PATH, { at: at(instant), anonymous: true });
    return [status, headers.deprecation, headers.sunset];
  };
  const TOLD = ['@1768435200', 'Fri, 15 Jan 2027 00:00:00 GMT'];

  describe('States and transitions', () => {
    it.each([
      ['active', '2026-01-14T23:59:59.999Z', [200, undefined, undefined]],
      ['deprecated, and served as before', '2026-01-15T00:00:00Z', [200, ...TOLD]],
      ['deprecated to the end', '2027-01-14T23:59:59.999Z', [200, ...TOLD]],
      ['retired', '2027-01-15T00:00:00Z', [410, ...TOLD]],
    ])('a version is %s at %s', async (_stage, instant, expected) => {
      expect(await show(instant)).toEqual(expected);
    });

    it('calls to a deprecated version are counted', async () => {
      const series = 'sundial_deprecated_requests_total{api="orders",version="v1",consumer="initech"}';
      const { ask, samples } = fixture();
      const count = async () => (await samples.gateway.metric(series)) ?? 0;
      const before = await count();
      const { headers } = await ask('/api/v1/orders/1001');
      await samples.gateway.accessLine(headers['x-request-id']);
      expect(await count()).toBe(before + 1);
    });

    it('an extension of 3 to 6 months, announced 3 months before, is accepted; others are not', async () => {
      const { rewriteSales } = fixture();
      const extend = (to: string, announced: string) =>
        rewriteSales((text) =>
          text.replace(
            PUBLISHED,
            `${PUBLISHED}    extended: [{ to: ${to}, announced: ${announced}, why: acme is still migrating }]\n`,
          ),
        );
      const EXTENDED = [200, '@1768435200', 'Thu, 15 Apr 2027 00:00:00 GMT'];
      expect(await extend('2027-04-15', '2026-10-10')).toBe(true);
      expect(await show('2027-04-14T23:59:59Z')).toEqual(EXTENDED);
      expect((await show('2027-04-15T00:00:00Z'))[0]).toBe(410);
      for (const [to, announced] of [
        ['2027-08-15', '2026-10-10'], // seven months
        ['2027-02-15', '2026-10-10'], // one month
        ['2027-04-16', '2026-11-10'], // two months before
      ] as const) {
        expect(await extend(to, announced), to).toBe(false);
        expect(await show('2027-04-14T23:59:59Z'), to).toEqual(EXTENDED);
      }
      expect(await rewriteSales((text) => text)).toBe(true);
    });
  });
}
