// The contract of every PinStore.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pin, PinKey, PinStore } from '../../gateway/policy/versioning/pin.ts';
import { NOW } from '../support/exchange-samples.ts';
import { callUnnamed } from '../support/first-calls.ts';
import type { LastingUnderTest } from './lasting-stores.ts';

export const pinOf = (label: string, more: Partial<Pin> = {}): Pin => ({
  label,
  origin: 'first_call',
  since: Date.UTC(2026, 10, 20),
  previous: undefined,
  ...more,
});

export const newKey = (): PinKey => ({ api: 'payments', account: `contract-${randomUUID()}` });

const ODD_ACCOUNTS = [
  ...[
    '',
    ' ',
    'a',
    'a:b',
    ':',
    'a:',
    '{a}',
    '}{',
    '{',
    '"',
    '","',
    '\\',
    "'; DROP TABLE pin; --",
    '*',
    '?',
    '[a]',
  ],
  ...[
    '\n',
    '\u0000',
    'a\u0000b',
    'müller',
    'mu\u0308ller',
    '支払い',
    '💳',
    '\ud800',
    '\ud801',
    'A',
    'x'.repeat(256),
  ],
];

export function pinStoreContract(name: string, open: () => Promise<LastingUnderTest>): void {
  describe(`pin store: ${name}`, () => {
    let store: LastingUnderTest;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());
    const pins = (gateway: 0 | 1 = 0): PinStore => store.gateways()[gateway].pins;

    it('find returns undefined for an account without a pin', async () => {
      expect(await pins().find(newKey())).toBeUndefined();
    });

    it('a claimed pin is found by every gateway and after a restart', async () => {
      const key = newKey();
      const pin = pinOf('2026-01-01');
      expect(await pins().claim(key, pin)).toEqual(pin);
      expect(await pins(0).find(key)).toEqual(pin);
      expect(await pins(1).find(key)).toEqual(pin);
      await store.restart();
      expect(await pins().find(key)).toEqual(pin);
    });

    it('a claim on a pinned account returns the stored pin', async () => {
      const key = newKey();
      await pins(0).claim(key, pinOf('2026-01-01'));
      expect(await pins(1).claim(key, pinOf('2026-06-01'))).toEqual(pinOf('2026-01-01'));
      expect(await pins(1).find(key)).toEqual(pinOf('2026-01-01'));
    });

    it('one of a hundred concurrent claims on two gateways is stored, and all return its pin', async () => {
      const key = newKey();
      const winners = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          pins(index % 2 === 0 ? 0 : 1).claim(key, pinOf(`v${index}`)),
        ),
      );
      const [winner] = winners;
      expect(new Set(winners.map(({ label }) => label)).size).toBe(1);
      await store.restart();
      expect(await pins().find(key)).toEqual(winner);
    });

    it.each([
      ['the older version', 0, { 0: 'v1 by pin', 1: 'v1 by pin' }],
      ['the newer version', 1, { 0: 'version_unknown', 1: 'v2 by pin' }],
    ] as const)(
      'two concurrent first calls, before and after a release, store %s, and each counts once',
      async (_which, first, ends) => {
        const { account } = newKey();
        const claimed = Promise.withResolvers<void>();
        const found: Promise<unknown>[] = [];
        const bothFound = Promise.withResolvers<void>();
        const call = async (gateway: 0 | 1) => {
          const { find, claim, replace } = pins(gateway);
          const ports: string[] = [];
          const racing: PinStore = {
            find: (key) => {
              const pin = find(key);
              if (found.push(Promise.resolve(pin)) === 2)
                void Promise.all(found).then(() => bothFound.resolve());
              return pin;
            },
            claim: async (key, pin) => {
              await (gateway === first ? bothFound.promise : claimed.promise);
              return claim(key, pin).finally(claimed.resolve);
            },
            replace,
          };
          const now = gateway === 0 ? NOW - 2 : NOW;
          const { end } = await callUnnamed({
            pins: racing,
            onAsked: (what) => ports.push(what),
            account,
            now,
          });
          return { end, ports };
        };
        const ports = ['guard', 'verify', 'take'];
        expect(await Promise.all([call(0), call(1)])).toEqual([
          { end: ends[0], ports },
          { end: ends[1], ports },
        ]);
        expect(await pins().find({ api: 'orders', account })).toMatchObject({ label: `v${first + 1}` });
      },
    );

    it('a pin is replaced only by a caller that knows the stored one', async () => {
      const key = newKey();
      const [first, second] = [
        pinOf('v1'),
        pinOf('v2', { origin: 'upgrade', previous: { label: 'a', until: 7 } }),
      ];
      expect(await pins().replace(key, first, second)).toBe(false);
      expect(await pins().find(key)).toBeUndefined();
      expect(await pins().replace(key, undefined, first)).toBe(true);
      expect(await pins().replace(key, undefined, second)).toBe(false);
      expect(await pins().replace(key, pinOf('v1', { since: 1 }), second)).toBe(false);
      expect(await pins().find(key)).toEqual(first);
      expect(await pins().replace(key, first, second)).toBe(true);
      expect(await pins().find(key)).toEqual(second);
      await store.restart();
      expect(await pins().find(key)).toEqual(second);
      expect(await pins().replace(key, second, undefined)).toBe(true);
      expect(await pins().find(key)).toBeUndefined();
      expect(await pins().replace(key, undefined, undefined)).toBe(true);
    });

    it('one of many concurrent moves from the same pin on two gateways succeeds', async () => {
      const key = newKey();
      await pins().claim(key, pinOf('v1'));
      const moves = Array.from({ length: 50 }, (_, index) => pinOf(`v${index}`));
      const done = await Promise.all(
        moves.map((next, index) => pins(index % 2 === 0 ? 0 : 1).replace(key, pinOf('v1'), next)),
      );
      expect(done.filter((each) => each)).toHaveLength(1);
      await store.refresh();
      for (const gateway of [0, 1] as const)
        expect(await pins(gateway).find(key)).toEqual(moves[done.indexOf(true)]);
    });

    it('the other gateway sees a move after its next refresh, even if the old pin was cached', async () => {
      const key = newKey();
      await pins(0).claim(key, pinOf('v1'));
      expect(await pins(1).find(key)).toEqual(pinOf('v1'));
      await pins(0).replace(key, pinOf('v1'), pinOf('v2'));
      await store.refresh();
      expect(await pins(1).find(key)).toEqual(pinOf('v2'));
      await pins(0).replace(key, pinOf('v2'), undefined);
      await store.refresh();
      expect(await pins(1).find(key)).toBeUndefined();
    });

    it('the other gateway sees a claim after its next refresh, even if it cached its absence', async () => {
      const key = newKey();
      expect(await pins(1).find(key)).toBeUndefined();
      await pins(0).claim(key, pinOf('v1'));
      await store.refresh();
      expect(await pins(1).find(key)).toEqual(pinOf('v1'));
    });

    it('pins are cached, and also that an account has no pin', async () => {
      const [pinned, unpinned] = [newKey(), newKey()];
      await pins().claim(pinned, pinOf('v1'));
      await pins().find(unpinned);
      expect(pins().find(pinned)).toEqual(pinOf('v1'));
      expect(pins().find(unpinned)).toBeUndefined();
      await pins().replace(pinned, pinOf('v1'), pinOf('v2'));
      expect(pins().find(pinned)).toEqual(pinOf('v2'));
    });

    it('account names can be any text and are never confused', async () => {
      const keys = ODD_ACCOUNTS.map((account) => ({ api: `odd-${randomUUID()}`, account }));
      const api = `odd-${randomUUID()}`;
      const all = [...keys, ...ODD_ACCOUNTS.map((account) => ({ api, account }))];
      await Promise.all(all.map((key, index) => pins().claim(key, pinOf(`v${index}`))));
      await store.restart();
      for (const [index, key] of all.entries()) {
        expect(await pins().find(key), JSON.stringify(key)).toEqual(pinOf(`v${index}`));
      }
    });

    it('a pin is returned as it was stored, with any content', async () => {
      const label = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
      const pin = fc.record({
        label: fc.nat(9999).map((major) => `v${major}`),
        origin: fc.constantFrom<Pin['origin'][]>('first_call', 'upgrade', 'roll_back'),
        since: fc.nat(4e12),
        previous: fc.option(fc.record({ label: fc.option(label, { nil: undefined }), until: fc.nat(4e12) }), {
          nil: undefined,
        }),
      });
      await fc.assert(
        fc.asyncProperty(pin, pin, async (first, second) => {
          const key = newKey();
          await pins(0).claim(key, first);
          expect(await pins(1).find(key)).toEqual(first);
          expect(await pins(1).replace(key, first, second)).toBe(true);
          await store.refresh();
          expect(await pins(0).find(key)).toEqual(second);
        }),
        { numRuns: 25 },
      );
    });
  });
}
