// The token cache: cached verdicts, their lifetime, and verdicts that it never serves (JWT-8).
import { beforeEach, describe, expect, it } from 'vitest';
import { createTokenVerifier } from '../../gateway/identity/authenticators.ts';
import { createTokenCache, type Verification } from '../../gateway/identity/token-cache.ts';
import { createIssuerCache } from '../../gateway/identity/token-shape.ts';
import type { AuthenticationResult } from '../../gateway/policy/authentication/access.ts';
import type { MaybePromise } from '../../gateway/policy/contract.ts';
import { startTestIssuer } from '../support/issuer.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const START = Date.parse('2026-11-21T08:00:00Z');

const CONSUMER: AuthenticationResult = {
  kind: 'consumer',
  consumer: { id: 'acme', mayLabelMetrics: true, via: 'token', scopes: new Set(), claims: {} },
};
const REFUSED: AuthenticationResult = {
  kind: 'refused',
  refusal: { reason: 'token_invalid', description: 'no' },
};

let now: number;
let generation: number;
let verified: string[];
let answer: (token: string) => MaybePromise<Verification>;

const verdict = (outcome: AuthenticationResult, span: Partial<Verification> = {}): Verification => ({
  outcome,
  generation,
  expires: Number.POSITIVE_INFINITY,
  ...span,
});

const openCache = (keep = 5 * MINUTE) =>
  createTokenCache({
    verify: (token) => {
      verified.push(token);
      return answer(token);
    },
    keep,
    generation: () => generation,
    now: () => now,
  });
const makeCache = (keep?: number) => openCache(keep).verify;

beforeEach(() => {
  now = START;
  generation = 1;
  verified = [];
  answer = async () => verdict(CONSUMER);
});

describe('an accepted token', () => {
  it('JWT-8: is accepted without a promise the second time', async () => {
    const judge = makeCache();
    const first = judge('token');
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toBe(CONSUMER);
    expect(judge('token')).toBe(CONSUMER);
    expect(verified).toHaveLength(1);
  });

  it.each([
    ['5 minutes if it is valid for longer', 60 * MINUTE, 5 * MINUTE],
    ['its own lifetime if that is shorter', 90 * SECOND, 90 * SECOND],
  ])('JWT-8: is cached for %s', async (_name, life, kept) => {
    answer = async () => verdict(CONSUMER, { expires: START + life });
    const judge = makeCache();
    await judge('token');
    now = START + kept - 1;
    expect(judge('token')).toBe(CONSUMER);
    now = START + kept;
    await judge('token');
    expect(verified).toHaveLength(2);
  });

  it('JWT-8: is not served from the cache at a time before its verification', async () => {
    const judge = makeCache();
    await judge('token');
    now = START - 1;
    expect(judge('token')).toBeInstanceOf(Promise);
  });

  it('JWT-8: is verified again after the keys changed', async () => {
    const judge = makeCache();
    await judge('token');
    generation = 2;
    answer = async () => verdict(REFUSED);
    expect(await judge('token')).toBe(REFUSED);
  });

  it('JWT-8: is not cached if the keys changed during its verification', async () => {
    answer = async () => {
      const old = verdict(CONSUMER);
      generation = 2;
      return old;
    };
    const judge = makeCache();
    expect(await judge('token')).toBe(CONSUMER);
    answer = async () => verdict(REFUSED);
    expect(await judge('token')).toBe(REFUSED);
  });

  it('JWT-8: does not admit another token with the same signature', async () => {
    const signature = 's'.repeat(64);
    answer = async (token) => verdict(token.startsWith('good') ? CONSUMER : REFUSED);
    const judge = makeCache();
    await judge(`good.${signature}`);
    expect(await judge(`forged.${signature}`)).toBe(REFUSED);
    expect(judge(`good.${signature}`)).toBe(CONSUMER);
    expect(judge(`forged.${signature}`)).toBe(REFUSED);
    expect(verified).toHaveLength(2);
  });

  it('JWT-8: stays cached through a flood of forged tokens', async () => {
    const judge = makeCache();
    await judge('good');
    answer = async () => verdict(REFUSED);
    for (let forged = 0; forged < 2_000; forged += 1) await judge(`forged-${forged}`);
    expect(judge('good')).toBe(CONSUMER);
  });
});

it.each([
  ['valid tokens of more than 16 million characters', 2_000, 8_192, 975],
  ['more than 10,000 valid tokens', 10_001, 100, 5_000],
])(
  'JWT-8: %s are too many for the cache, which evicts the older half at once',
  async (_name, count, length, gone) => {
    const judge = makeCache();
    const token = (each: number) => `${each}`.padStart(length, 'x');
    for (let each = 0; each < count; each += 1) await judge(token(each));
    expect(judge(token(count - 1))).toBe(CONSUMER);
    expect(judge(token(gone))).toBe(CONSUMER);
    expect(judge(token(gone - 1))).toBeInstanceOf(Promise);
  },
);

describe('a verdict without a promise', () => {
  it.each([
    ['accepted', CONSUMER],
    ['refused', REFUSED],
  ])('JWT-8: is returned without a promise and cached: %s', (_name, outcome) => {
    answer = () => verdict(outcome);
    const judge = makeCache();
    expect([judge('token'), judge('token')]).toEqual([outcome, outcome]);
    expect(verified).toHaveLength(1);
  });

  it('is not cached if the next verification may differ', () => {
    answer = () => verdict(REFUSED, { expires: 0 });
    const judge = makeCache();
    expect([judge('token'), judge('token')]).toEqual([REFUSED, REFUSED]);
    expect(verified).toHaveLength(2);
  });
});

describe('the verdict for a header line', () => {
  it('JWT-8: is known once its token was verified, and a miss starts no verification', async () => {
    const { known, verify } = openCache();
    expect(known('Bearer token')).toBeUndefined();
    expect(verified).toEqual([]);
    await verify('token');
    expect(known('Bearer token')).toBe(CONSUMER);
  });

  it.each([
    ...['bearer token', 'Bearer  token', 'Bearer token ', 'Bearer token, Bearer token', 'Basic token'],
    ...['token', 'Bearer Token', 'Bearer toke', 'Bearer tokens', ''],
  ])('is not known for another line: %j', async (line) => {
    const { known, verify } = openCache();
    await verify('token');
    expect(known(line)).toBeUndefined();
  });

  it.each([
    ['from the expiry of the token on', () => (now = START + 90 * SECOND)],
    ['at a time before its verification', () => (now = START - 1)],
    ['when the keys changed', () => (generation = 2)],
  ])('JWT-8: is not known %s', async (_name, change) => {
    answer = async () => verdict(CONSUMER, { expires: START + 90 * SECOND });
    const { known, verify } = openCache();
    await verify('token');
    change();
    expect(known('Bearer token')).toBeUndefined();
  });
});

it.each([
  ['accepted', CONSUMER],
  ['refused', REFUSED],
])('JWT-8: with token_cache: off nothing is cached: %s', async (_name, outcome) => {
  answer = async () => verdict(outcome);
  const judge = makeCache(0);
  await Promise.all([judge('token'), judge('token')]);
  expect(verified).toHaveLength(1);
  await judge('token');
  expect(verified).toHaveLength(2);
});

it('JWT-8: a shorter token_cache applies to refused tokens too', async () => {
  answer = async () => verdict(REFUSED);
  const judge = makeCache(2 * SECOND);
  await judge('token');
  now += 2 * SECOND;
  await judge('token');
  expect(verified).toHaveLength(2);
});

describe('a refused token', () => {
  it('JWT-8: is refused from the cache for 10 seconds', async () => {
    answer = async () => verdict(REFUSED);
    const judge = makeCache();
    await judge('token');
    now += 10 * SECOND - 1;
    expect(judge('token')).toBe(REFUSED);
    now += 1;
    await judge('token');
    expect(verified).toHaveLength(2);
  });

  it('JWT-8: is verified again if the clock was ahead and is set back', async () => {
    answer = async () => verdict(REFUSED);
    const judge = makeCache();
    now = START + 24 * 60 * MINUTE;
    expect(await judge('token')).toBe(REFUSED);
    now = START;
    answer = async () => verdict(CONSUMER);
    expect(await judge('token')).toBe(CONSUMER);
  });

  it('JWT-8: uses bounded memory, and the older half is evicted at once', async () => {
    answer = async () => verdict(REFUSED);
    const judge = makeCache();
    for (let forged = 0; forged <= 1_000; forged += 1) await judge(`forged-${forged}`);
    expect(judge('forged-500')).toBe(REFUSED);
    expect(judge('forged-499')).toBeInstanceOf(Promise);
  });
});

it('JWT-4: a verdict without keys is never cached', async () => {
  answer = async () => verdict({ kind: 'unavailable' }, { expires: 0 });
  const judge = makeCache();
  await judge('token');
  await judge('token');
  expect(verified).toHaveLength(2);
});

it('concurrent callers with one token share one verification', async () => {
  const judge = makeCache();
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => judge('token')));
  expect(new Set(outcomes)).toEqual(new Set([CONSUMER]));
  expect(verified).toHaveLength(1);
});

it('a failed verification does not affect the next caller', async () => {
  const judge = makeCache();
  answer = async () => {
    throw new Error('broken');
  };
  await expect(judge('token')).rejects.toThrow('broken');
  answer = async () => verdict(CONSUMER);
  expect(await judge('token')).toBe(CONSUMER);
});

describe('the issuer in a token', () => {
  const naming = (issuer: string, tail = 's'.repeat(64)) =>
    `e30.${Buffer.from(JSON.stringify({ iss: issuer })).toString('base64url')}.${tail}`;

  it('is cached by the whole token, not by its signature', () => {
    const issuerOf = createIssuerCache();
    for (let round = 0; round < 2; round += 1) {
      expect(issuerOf(naming('a'))).toBe('a');
      expect(issuerOf(naming('b'))).toBe('b');
      expect(issuerOf('opaque')).toBeUndefined();
    }
  });

  it('is known after many invented tokens', () => {
    const issuerOf = createIssuerCache();
    for (let made = 0; made < 12_000; made += 1) issuerOf(`made-up-${made}`);
    expect(issuerOf(naming('a'))).toBe('a');
  });
});

describe('with a real issuer', () => {
  it('JWT-8: a cached token is refused as expired from its exp plus the leeway on', async () => {
    const issuer = await startTestIssuer({ now: () => START });
    const verifier = createTokenVerifier(issuer.settings, { now: () => now });
    const token = await issuer.sign({ exp: START / SECOND + 60 });
    const first = await verifier.verify(token);
    expect(first).toMatchObject({ kind: 'consumer' });
    now = START + 59 * SECOND;
    expect(verifier.verify(token)).toBe(first);
    now = START + 60 * SECOND;
    expect(verifier.verify(token)).toEqual(first);
    expect(verifier.verify(token)).not.toBe(first);
    now = START + 90 * SECOND;
    expect(verifier.verify(token)).toMatchObject({
      refusal: { description: 'The access token expired' },
    });
    verifier.close();
    await issuer.close();
  });

  it('JWT-1: a token with an nbf in the future is refused, and passes once nbf is reached', async () => {
    const issuer = await startTestIssuer({ now: () => START });
    const verifier = createTokenVerifier(issuer.settings, { now: () => now });
    const token = await issuer.sign({ nbf: START / SECOND + 31 });
    expect(await verifier.verify(token)).toMatchObject({ kind: 'refused' });
    now = START + SECOND;
    expect(await verifier.verify(token)).toMatchObject({ kind: 'consumer' });
    verifier.close();
    await issuer.close();
  });
});
