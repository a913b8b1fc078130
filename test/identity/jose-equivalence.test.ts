// The gateway's own verification and jose give the same verdicts for random tokens (JWT-1 … JWT-8).
import fc from 'fast-check';
import type { JWK } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import { createKeySet } from '../../gateway/identity/key-set.ts';
import type { TokenVerdict, VerifyToken } from '../../gateway/identity/token-cache.ts';
import { createVerifyToken } from '../../gateway/identity/verify-token.ts';
import type { JwtIdentity } from '../../gateway/plan/settings.ts';
import { FUZZ_TIMEOUT_MS, fuzz } from '../support/fuzz.ts';
import { AT, DRAWN_TOKENS, goodToken, KEY_SETS, NOT_IMPORTED, SETTINGS, USUAL } from './drawn-tokens.ts';
import { createJoseOracle } from './jose-oracle.ts';

interface Judge {
  readonly verify: VerifyToken;
  readonly oracle: (token: string) => Promise<TokenVerdict>;
}

const stack = new DisposableStack();
afterAll(() => stack.dispose());

async function openJudge(settings: JwtIdentity, keys: readonly JWK[]): Promise<Judge> {
  const fetch = async () => Response.json({ keys });
  const keySet = createKeySet(settings.jwksUrl, { now: () => AT, fetch });
  stack.defer(keySet.close);
  await keySet.warm();
  return {
    verify: createVerifyToken(settings, keySet, () => AT),
    oracle: createJoseOracle(settings, keys, AT),
  };
}

const nameOf = ({ outcome }: TokenVerdict): string =>
  outcome.kind === 'refused' && outcome.refusal.reason === 'token_invalid'
    ? `refused: ${outcome.refusal.flaw}`
    : outcome.kind;

describe('JWT-1: a random token', () => {
  it('gets the same outcome, flaw, consumer and expiry as from jose', {
    timeout: FUZZ_TIMEOUT_MS,
  }, async () => {
    const judges = await Promise.all(
      SETTINGS.map((settings) => Promise.all(KEY_SETS.map((keys) => openJudge(settings, keys)))),
    );
    const seen = new Map<string, number>();
    const drawn = fc.record({
      token: DRAWN_TOKENS,
      settings: fc.constantFrom(0, 0, 0, 0, 1, 1, 1, 2),
      keySet: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 1, 2),
    });
    await fuzz(
      fc.asyncProperty(drawn, async ({ token, settings, keySet }) => {
        const judge = judges[settings]?.[keySet];
        if (judge === undefined) throw new Error('no judge of that number');
        const { outcome, expires } = await judge.verify(token);
        const expected = await judge.oracle(token);
        expect({ outcome, expires }).toEqual(expected);
        seen.set(nameOf(expected), (seen.get(nameOf(expected)) ?? 0) + 1);
      }),
      4_000,
    );
    const flaws = [
      ...['malformed', 'algorithms', 'key_unknown', 'signature', 'types', 'issuer', 'audience', 'claims'],
      ...['not_yet', 'expired', 'max_lifetime', 'binding', 'consumer'],
    ];
    const names = ['consumer', 'unavailable', ...flaws.map((flaw) => `refused: ${flaw}`)];
    expect(names.filter((name) => (seen.get(name) ?? 0) < 10)).toEqual([]);
  });
});

describe('JWT-1: a key that jose selects but cannot import', () => {
  it.each(NOT_IMPORTED)('is ignored by the gateway too, as an unknown key: %s', async (_name, odd) => {
    const [good = {}] = KEY_SETS[1] ?? [];
    const { verify, oracle } = await openJudge(USUAL, [{ ...good, kid: 'good' }, odd]);
    expect(nameOf(await verify(goodToken('good')))).toBe('consumer');
    for (const pair of ['rsa', 'weakRsa'] as const) {
      const token = goodToken('odd', pair);
      expect([nameOf(await verify(token)), nameOf(await oracle(token))]).toEqual([
        'refused: key_unknown',
        'refused: malformed',
      ]);
    }
  });
});
