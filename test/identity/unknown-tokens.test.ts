// The budget per address that protects the introspection endpoint from a flood of invented opaque tokens.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTokenBudget } from '../../gateway/identity/introspect.ts';
import type { IdentityVerifier } from '../../gateway/identity/token-cache.ts';
import { type IntrospectionEndpoint, openEndpoint, SECOND, says } from './introspection-endpoint.ts';

const [HERE, THERE] = ['192.0.2.9', '2001:db8:0:1::/64'];

let endpoint: IntrospectionEndpoint;
beforeAll(async () => {
  endpoint = await openEndpoint();
});
afterAll(() => endpoint[Symbol.asyncDispose]());
afterEach(() => endpoint.reset());

/** A busy machine may need longer for a response than the default timeout. */
const open = () => endpoint.verifierOf({}, { timeout: 60 * SECOND });
const only = (active: (token: string) => boolean): void => {
  endpoint.answer = (form, response) => says({ active: active(form.token ?? '') })(form, response);
};

async function kindsOf(verifier: IdentityVerifier, tokens: readonly string[], from = HERE) {
  const verified = await Promise.all(tokens.map(async (token) => verifier.verify(token, from)));
  return verified.map(({ kind }) => kind);
}
const flood = (count: number, name = 'flood') =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`);
const count = (kinds: readonly string[], kind: string) => kinds.filter((each) => each === kind).length;

describe('RL-7, RL-12: invalid opaque tokens', () => {
  it('are introspected up to the budget of their address, and limited beyond it', async () => {
    only(() => false);
    const verifier = open();
    const kinds = await kindsOf(verifier, flood(200));
    expect([count(kinds, 'refused'), count(kinds, 'limited')]).toEqual([60, 140]);
    expect(endpoint.asked).toHaveLength(60);
    expect(await verifier.verify('one-more', HERE)).toEqual({ kind: 'limited', retryAfterSeconds: 1 });
    endpoint.now += SECOND;
    expect(await kindsOf(verifier, flood(3, 'later'))).toEqual(['refused', 'limited', 'limited']);
    expect(endpoint.asked).toHaveLength(61);
  });

  it('do not affect another address', async () => {
    only((token) => token === 'good');
    const verifier = open();
    await kindsOf(verifier, flood(100));
    expect(await kindsOf(verifier, ['good'], THERE)).toEqual(['consumer']);
  });

  it('evict no cached token', async () => {
    only((token) => token === 'good');
    const verifier = open();
    expect(await kindsOf(verifier, ['good'])).toEqual(['consumer']);
    await kindsOf(verifier, flood(100));
    expect(await kindsOf(verifier, ['good', 'new'])).toEqual(['consumer', 'limited']);
  });

  it('use the budget alone: many valid tokens from one address pass', async () => {
    const verifier = open();
    for (const token of flood(100)) expect(await kindsOf(verifier, [token])).toEqual(['consumer']);
  });

  it('use no budget while the endpoint fails', async () => {
    endpoint.answer = (_, response) => response.writeHead(400).end();
    const verifier = open();
    for (const token of flood(100)) expect(await kindsOf(verifier, [token])).toEqual(['unavailable']);
    only(() => true);
    expect(await kindsOf(verifier, ['good'])).toEqual(['consumer']);
  });

  it('are introspected again after the clock was set back', async () => {
    only(() => false);
    const verifier = open();
    await kindsOf(verifier, flood(100));
    endpoint.now -= 3_600 * SECOND;
    expect(await kindsOf(verifier, ['one'])).toEqual(['refused']);
  });

  it('are all introspected if the request has no address', async () => {
    only(() => false);
    const verifier = open();
    const verdicts = await Promise.all(flood(100).map(async (token) => verifier.verify(token)));
    expect(
      count(
        verdicts.map(({ kind }) => kind),
        'refused',
      ),
    ).toBe(100);
  });

  it('are counted for the last 10,000 addresses, in bounded memory', async () => {
    const budget = createTokenBudget(() => endpoint.now);
    const drain = (address: string) => flood(60).map(() => budget.take(address));
    drain(HERE);
    expect(budget.take(HERE)).toBe(1);
    const takeElsewhere = (from: number, to: number): void => {
      for (let index = from; index < to; index += 1) budget.take(`10.0.${index >> 8}.${index & 255}`);
    };
    takeElsewhere(0, 10_000);
    expect(budget.take(HERE)).toBe(1);
    takeElsewhere(10_000, 20_000);
    expect(budget.take(HERE)).toBeUndefined();
  });
});
