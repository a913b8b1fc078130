// The key set through rotation, outages and hostile responses (JWT-4).
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTokenVerifier, type VerifierOptions } from '../../gateway/identity/authenticators.ts';
import { issuerAddress } from '../../gateway/identity/issuer-request.ts';
import type { KeyFetch } from '../../gateway/identity/key-set.ts';
import type { IdentityVerifier } from '../../gateway/identity/token-cache.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

let clock: { now: number };
let issuer: TestIssuer;
let open: IdentityVerifier[];

beforeEach(async () => {
  clock = { now: Date.parse('2026-11-21T08:00:00Z') };
  open = [];
  issuer = await startTestIssuer({ now: () => clock.now });
});
afterEach(async () => {
  for (const verifier of open) verifier.close();
  await issuer.close();
});

function makeVerifier(options: Partial<VerifierOptions> = {}): IdentityVerifier {
  // A busy machine may need longer for a response than the default timeout.
  const patient = { now: () => clock.now, timeout: MINUTE };
  const verifier = createTokenVerifier(issuer.settings, { ...patient, ...options });
  open.push(verifier);
  return verifier;
}

/** `nextFetch` resolves with the result of the next fetch. */
function makeWatchedVerifier() {
  let onFetch: ((fetch: KeyFetch) => void) | undefined;
  const verifier = makeVerifier({ report: (fetch) => onFetch?.(fetch) });
  const nextFetch = () =>
    new Promise<KeyFetch['kind']>((resolve) => {
      onFetch = ({ kind }) => resolve(kind);
    });
  return { verifier, nextFetch };
}

const kindOf = async (verifier: IdentityVerifier, token: string) => (await verifier.verify(token)).kind;

describe('an unavailable issuer', () => {
  it('JWT-4: before the first fetch a token is unavailable, and passes once the issuer is up', async () => {
    issuer.down();
    const verifier = makeVerifier();
    await verifier.warm();
    const token = await issuer.sign();
    expect(await kindOf(verifier, token)).toBe('unavailable');
    issuer.up();
    clock.now += SECOND;
    expect(await kindOf(verifier, token)).toBe('consumer');
  });

  it('JWT-4: without keys, a flood of tokens causes one fetch per second', async () => {
    issuer.down();
    const verifier = makeVerifier();
    const tokens = await Promise.all(Array.from({ length: 50 }, () => issuer.sign()));
    for (let second = 1; second <= 3; second += 1) {
      const kinds = await Promise.all(tokens.map((token) => kindOf(verifier, token)));
      expect(new Set(kinds)).toEqual(new Set(['unavailable']));
      expect(issuer.fetches).toBe(second);
      clock.now += SECOND;
    }
  });

  it('JWT-4: fetched keys keep working for exactly 24 h without the issuer', async () => {
    const verifier = makeVerifier();
    await verifier.warm();
    issuer.down();
    clock.now += 24 * HOUR - 1;
    expect(await kindOf(verifier, await issuer.sign())).toBe('consumer');
    clock.now += 1;
    expect(await kindOf(verifier, await issuer.sign())).toBe('unavailable');
  });

  it('JWT-4: a token with a key that cannot be fetched is unavailable, not refused', async () => {
    const verifier = makeVerifier();
    await verifier.warm();
    await issuer.rotate();
    issuer.down();
    clock.now += 30 * SECOND;
    expect(await kindOf(verifier, await issuer.sign())).toBe('unavailable');
  });

  it('JWT-4: after an outage the keys are fetched again within one cooldown, in the background', async () => {
    const { verifier, nextFetch } = makeWatchedVerifier();
    await verifier.warm();
    issuer.down();
    clock.now += 10 * MINUTE;
    const failing = nextFetch();
    expect(await kindOf(verifier, await issuer.sign())).toBe('consumer');
    expect(await failing).toBe('failed');
    issuer.up();
    clock.now += 30 * SECOND - 1;
    expect(await kindOf(verifier, await issuer.sign())).toBe('consumer');
    expect(issuer.fetches).toBe(2);
    clock.now += 1;
    const working = nextFetch();
    expect(await kindOf(verifier, await issuer.sign())).toBe('consumer');
    expect(await working).toBe('fetched');
  });
});

describe('rotation', () => {
  it('JWT-4: a new key is accepted after one fetch, once the cooldown has passed', async () => {
    const verifier = makeVerifier();
    await verifier.warm();
    await issuer.rotate();
    const token = await issuer.sign();
    clock.now += 30 * SECOND - 1;
    expect(await kindOf(verifier, token)).toBe('refused');
    expect(issuer.fetches).toBe(1);
    clock.now += 1;
    expect(await kindOf(verifier, token)).toBe('consumer');
    expect(issuer.fetches).toBe(2);
  });

  it('JWT-4: under load, tokens of the old and the new key both pass, with one fetch', async () => {
    const verifier = makeVerifier();
    await verifier.warm();
    const sign = (count: number) => Promise.all(Array.from({ length: count }, () => issuer.sign()));
    const old = await sign(100);
    await issuer.rotate();
    const fresh = await sign(100);
    clock.now += 30 * SECOND;
    const both = old.flatMap((token, index) => [token, fresh[index] ?? '']);
    const kinds = await Promise.all(both.map((token) => kindOf(verifier, token)));
    expect(kinds).toEqual(both.map(() => 'consumer'));
    expect(issuer.fetches).toBe(2);
  });

  describe('a new key under an old kid', () => {
    /** Signed with keys that replace the old ones under their kids. */
    async function replaced() {
      const kids = issuer.publicKeys().map(({ kid }) => kid);
      await issuer.rotate();
      const keys = issuer.publicKeys().map((key, index) => ({ ...key, kid: kids[index] }));
      issuer.answerWith((_request, response) => response.end(JSON.stringify({ keys })));
      return (count: number) =>
        Promise.all(Array.from({ length: count }, () => issuer.sign({}, { kid: kids[0] })));
    }

    it('JWT-4: an invalid signature causes one fetch per cooldown, and then passes', async () => {
      const verifier = makeVerifier();
      await verifier.warm();
      const tokens = await (await replaced())(20);
      clock.now += 30 * SECOND - 1;
      expect(await kindOf(verifier, tokens[0] ?? '')).toBe('refused');
      expect(issuer.fetches).toBe(1);
      clock.now += 10 * SECOND;
      const kinds = await Promise.all(tokens.map((token) => kindOf(verifier, token)));
      expect(new Set(kinds)).toEqual(new Set(['consumer']));
      expect(issuer.fetches).toBe(2);
    });

    it('JWT-4: a flood of forged tokens causes one fetch per cooldown, and evicts no valid one', async () => {
      const verifier = makeVerifier();
      await verifier.warm();
      const good = await issuer.sign();
      const forged = await Promise.all(Array.from({ length: 200 }, () => issuer.sign()));
      for (let round = 1; round <= 3; round += 1) {
        clock.now += 30 * SECOND;
        const kinds = await Promise.all(
          forged.map((token) => kindOf(verifier, `${token.slice(0, -8)}AAAAAAAA`)),
        );
        expect(new Set(kinds)).toEqual(new Set(['refused']));
        expect(issuer.fetches).toBe(1 + round);
        expect(await kindOf(verifier, good)).toBe('consumer');
      }
    });

    it('JWT-4: during an outage a token of the new key is refused, and an old one passes', async () => {
      const verifier = makeVerifier();
      await verifier.warm();
      const good = await issuer.sign();
      const [token = ''] = await (await replaced())(1);
      issuer.down();
      clock.now += 30 * SECOND;
      expect([await kindOf(verifier, token), await kindOf(verifier, good)]).toEqual(['refused', 'consumer']);
    });
  });

  it('JWT-4: a thousand unknown kids cause one fetch per cooldown', async () => {
    const verifier = makeVerifier();
    await verifier.warm();
    const tokens = await Promise.all(
      Array.from({ length: 1000 }, (_, kid) => issuer.sign({}, { kid: `x${kid}` })),
    );
    for (let round = 1; round <= 3; round += 1) {
      clock.now += 30 * SECOND;
      const kinds = await Promise.all(tokens.map((token) => kindOf(verifier, token)));
      expect(new Set(kinds)).toEqual(new Set(['refused']));
      expect(issuer.fetches).toBe(1 + round);
    }
  });

  it('JWT-4: a removed key stops working after the scheduled fetch, even for cached tokens', async () => {
    const { verifier, nextFetch } = makeWatchedVerifier();
    await verifier.warm();
    const token = await issuer.sign();
    await issuer.rotate();
    clock.now += 10 * MINUTE - 1;
    expect(await kindOf(verifier, token)).toBe('consumer');
    expect(issuer.fetches).toBe(1);
    clock.now += 1;
    const fetched = nextFetch();
    expect(verifier.verify(token)).toMatchObject({ kind: 'consumer' });
    expect(await fetched).toBe('fetched');
    expect(await kindOf(verifier, token)).toBe('refused');
  });

  it('JWT-4: keys are fetched without traffic, until close', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const { verifier, nextFetch } = makeWatchedVerifier();
      await verifier.warm();
      const fetched = nextFetch();
      clock.now += 10 * MINUTE;
      vi.advanceTimersByTime(30 * SECOND);
      expect(await fetched).toBe('fetched');
      verifier.close();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('JWT-4: keys are fetched even after the clock was set back by a year', async () => {
    const verifier = makeVerifier();
    await verifier.warm();
    clock.now -= 365 * 24 * HOUR;
    await issuer.rotate();
    expect(await kindOf(verifier, await issuer.sign())).toBe('consumer');
  });
});

describe('responses without usable keys', () => {
  it('JWT-4: an endless body is aborted at the limit', async () => {
    let sent = 0;
    issuer.answerWith((_request, response) => {
      const chunk = Buffer.alloc(64 * 1024, ' ');
      const more = (failure?: Error | null): void => {
        if (failure || response.destroyed || sent > 32 * 1024 * 1024) return;
        sent += chunk.length;
        response.write(chunk, more);
      };
      more();
    });
    const verifier = makeVerifier();
    expect(await kindOf(verifier, await issuer.sign())).toBe('unavailable');
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  });

  it.each([['key_ops without verify', { key_ops: ['encrypt'] }]])(
    'JWT-1: a key with %s is not used',
    async (_name, change) => {
      const keys = issuer.publicKeys().map((key) => ({ ...key, ...change }));
      issuer.answerWith((_request, response) => response.end(JSON.stringify({ keys })));
      expect(await kindOf(makeVerifier(), await issuer.sign())).toBe('refused');
    },
  );
});

it('JWT-4: a fetch times out after five seconds by default', async () => {
  const given = vi.spyOn(AbortSignal, 'timeout');
  try {
    const verifier = createTokenVerifier(issuer.settings, { now: () => clock.now });
    open.push(verifier);
    await verifier.warm();
    expect(given.mock.calls).toEqual([[5 * SECOND]]);
  } finally {
    given.mockRestore();
  }
});

describe('the JWKS URL', () => {
  it.each([
    'https://issuer.example/jwks',
    'http://127.0.0.1:4000/jwks',
    'http://localhost/jwks',
    'http://[::1]:4000/jwks',
  ])('JWT-4: %s may be fetched', (url) => {
    expect(issuerAddress(url).href).toBe(url);
  });

  it.each([
    'http://issuer.example/jwks',
    'http://127.0.0.1.example/jwks',
    'http://localhost.example/jwks',
    'https://user:secret@issuer.example/jwks',
    'file:///etc/passwd',
    'data:application/json,{"keys":[]}',
    'jwks.json',
  ])('JWT-4: %s may not be fetched', (url) => {
    expect(() => issuerAddress(url)).toThrow(TypeError);
    expect(() => createTokenVerifier({ ...issuer.settings, jwksUrl: url }, { now: () => clock.now })).toThrow(
      TypeError,
    );
  });
});

describe('close', () => {
  it('aborts a running fetch, and later tokens do not start one', async () => {
    issuer.answerWith(() => undefined);
    const reported: KeyFetch[] = [];
    const verifier = makeVerifier({ report: (fetch) => reported.push(fetch) });
    const warming = verifier.warm();
    verifier.close();
    await warming;
    const before = issuer.fetches;
    clock.now += HOUR;
    expect(await kindOf(verifier, await issuer.sign())).toBe('unavailable');
    expect(issuer.fetches).toBe(before);
    expect(reported).toEqual([]);
  });
});
