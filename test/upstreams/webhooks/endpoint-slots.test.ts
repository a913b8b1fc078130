// Tests of endpoint slots: concurrent attempts and fairness, with generated owners, endpoints and hosts.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createEndpointSlots, type Endpoint, type Slot } from '../../../upstreams/webhooks/endpoint-slots.ts';
import { DEFAULT_TUNING } from '../../../upstreams/webhooks/tuning.ts';

const endpoint = (owner: number, host: number, path = 0): Endpoint => ({
  id: `wh_${owner}_${host}_${path}`,
  owner: `owner-${owner}`,
  url: `https://host-${host}.example.org/${path}?x=${owner}`,
});
const hostOf = ({ url }: Endpoint) => new URL(url).host;

it('one host gets at most sixteen concurrent attempts', () => {
  const slots = createEndpointSlots(DEFAULT_TUNING);
  const taken = Array.from({ length: 500 }, (_, owner) => slots.take(endpoint(owner, 1), 0));
  expect(taken.filter(({ kind }) => kind === 'free')).toHaveLength(16);
  // Attempts without a slot are retried one after the other, within ten seconds.
  const waits = taken.flatMap((slot) => (slot.kind === 'full' ? slot.until : []));
  expect(waits).toEqual([...waits].sort((a, b) => a - b));
  expect(Math.max(...waits)).toBeLessThanOrEqual(10_000);
});

it('a slow host does not use up the slots of other hosts', () => {
  const slots = createEndpointSlots(DEFAULT_TUNING);
  for (let owner = 0; owner < 500; owner += 1) slots.take(endpoint(owner, 1), 0);
  for (let host = 2; host < 9; host += 1) expect(slots.take(endpoint(600 + host, host), 0).kind).toBe('free');
  expect(slots.take(endpoint(0, 2), 0).kind).toBe('free');
});

it('one owner gets at most half of the slots of a host', () => {
  const slots = createEndpointSlots(DEFAULT_TUNING);
  const taken = Array.from({ length: 100 }, (_, path) => slots.take(endpoint(1, 1, path), 0));
  expect(taken.filter(({ kind }) => kind === 'free')).toHaveLength(8);
  expect(slots.take(endpoint(2, 1), 0).kind).toBe('free');
});

it('the same host in other spellings is one host', () => {
  const slots = createEndpointSlots(DEFAULT_TUNING);
  const spell = (owner: number, url: string) =>
    slots.take({ id: `wh_${owner}`, owner: `owner-${owner}`, url }, 0);
  for (let owner = 0; owner < 8; owner += 1) spell(owner, 'https://hooks.example.org/a');
  for (let owner = 8; owner < 16; owner += 1) spell(owner, 'https://HOOKS.example.ORG:443/b?c#');
  expect(spell(99, 'https://hooks.example.org/d').kind).toBe('full');
});

it('no limit is exceeded in any order of attempts, and all slots are free at the end', () => {
  const step = fc.record({ owner: fc.nat(40), host: fc.nat(3), path: fc.nat(3), leaves: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const slots = createEndpointSlots(DEFAULT_TUNING);
      const held: { at: Endpoint; slot: Extract<Slot, { kind: 'free' }> }[] = [];
      const count = (of: (each: Endpoint) => string, name: string) =>
        held.filter(({ at }) => of(at) === name).length;
      for (const [now, { owner, host, path, leaves }] of steps.entries()) {
        if (leaves) {
          held.shift()?.slot.release(5);
          continue;
        }
        const at = endpoint(owner, host, path);
        const slot = slots.take(at, now);
        if (slot.kind === 'free') held.push({ at, slot });
        else expect(slot.until).toBeGreaterThan(now);
        expect(count(hostOf, hostOf(at))).toBeLessThanOrEqual(16);
        expect(count(({ id }) => id, at.id)).toBeLessThanOrEqual(8);
      }
      for (const { slot } of held) slot.release(1);
      const again = Array.from({ length: 16 }, (_, owner) => slots.take(endpoint(owner, 0), 1_000));
      expect(again.every(({ kind }) => kind === 'free')).toBe(true);
    }),
    { numRuns: 200 },
  );
});
