// Accepted and refused tokens: the attacks of JWT-1 … JWT-8 against a real key set.
import { createHmac, createPublicKey } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTokenVerifier } from '../../gateway/identity/authenticators.ts';
import type { IdentityVerifier } from '../../gateway/identity/token-cache.ts';
import type { JwtIdentity } from '../../gateway/plan/settings.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';

const AT = Date.parse('2026-11-21T08:00:00Z');
const SECONDS = AT / 1000;
const INVALID = {
  kind: 'refused',
  refusal: {
    reason: 'token_invalid',
    description: 'The access token is not valid',
    flaw: expect.any(String),
  },
};
const EXPIRED = {
  kind: 'refused',
  refusal: { reason: 'token_invalid', description: 'The access token expired', flaw: 'expired' },
};

let issuer: TestIssuer;
let other: TestIssuer;
let verifier: IdentityVerifier;

beforeAll(async () => {
  issuer = await startTestIssuer({ now: () => AT });
  other = await startTestIssuer({ now: () => AT });
  verifier = createTokenVerifier(issuer.settings, { now: () => AT });
});
afterAll(async () => {
  verifier.close();
  await Promise.all([issuer.close(), other.close()]);
});

const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Uses a new verifier for unusual settings. */
async function verdictWith(settings: Partial<JwtIdentity>, token: string) {
  const own = createTokenVerifier({ ...issuer.settings, ...settings }, { now: () => AT });
  try {
    return await own.verify(token);
  } finally {
    own.close();
  }
}

describe('a valid token', () => {
  it.each(['RS256', 'ES256'])(
    'JWT-1: passes with %s, and gives the consumer, its scopes and claims',
    async (alg) => {
      expect(await verifier.verify(await issuer.sign({}, { alg }))).toEqual({
        kind: 'consumer',
        consumer: {
          id: 'acme',
          mayLabelMetrics: true,
          via: 'token',
          scopes: new Set(['orders:read', 'orders:write']),
          claims: expect.objectContaining({ sub: 'acme', client_id: 'acme', iss: issuer.url }),
        },
      });
    },
  );

  it.each([
    ['an audience list with our audience', { aud: ['billing', 'sundial-samples'] }, {}],
    ['typ JWT, if the settings accept it', {}, { typ: 'JWT' }],
    ['typ as a full media type, in any case', {}, { typ: 'Application/AT+JWT' }],
    ['no kid, if one key fits the algorithm', {}, { kid: undefined }],
    ['exp passed by 29 s, within the leeway', { iat: SECONDS - 3600, exp: SECONDS - 29 }, {}],
    ['nbf 29 s ahead, within the leeway', { nbf: SECONDS + 29 }, {}],
    ['a claim whose text looks like a repeated one', { note: '","iss":"x' }, {}],
  ])('JWT-1: passes with %s', async (_name, claims, header) => {
    expect(await verifier.verify(await issuer.sign(claims, header))).toMatchObject({ kind: 'consumer' });
  });
});

it('JWT-8: a verdict with a known key is cached, but not one for a wrong shape or algorithm', async () => {
  const own = createTokenVerifier(issuer.settings, { now: () => AT });
  await own.warm();
  const token = await issuer.sign();
  const forged = `${token.slice(0, token.lastIndexOf('.'))}.AAAA`;
  for (const each of [token, forged]) expect(own.verify(each)).toBe(own.verify(each));
  for (const each of ['opaque', `${encode({ alg: 'none' })}.e30.AA`])
    expect(own.verify(each)).not.toBe(own.verify(each));
  own.close();
});

describe('the flaw of a refused token', () => {
  const flawOf = async (token: string, settings: Partial<JwtIdentity> = {}) => {
    const outcome = await verdictWith(settings, token);
    return outcome.kind === 'refused' && 'flaw' in outcome.refusal ? outcome.refusal.flaw : undefined;
  };
  it.each([
    ['issuer', { iss: 'https://else.example' }, {}],
    ['audience', { aud: 'else' }, {}],
    ['types', {}, { typ: 'else' }],
    ['types', {}, { typ: undefined }],
    ['algorithms', {}, { alg: 'HS256' }],
    ['key_unknown', {}, { kid: 'else' }],
    ['max_lifetime', { exp: SECONDS + 86_400 }, {}],
    ['max_lifetime', { iat: SECONDS - 7200, exp: SECONDS + 60 }, {}],
    ['expired', { iat: SECONDS - 700, exp: SECONDS - 60 }, {}],
    ['not_yet', { nbf: SECONDS + 60 }, {}],
    ['claims', { sub: undefined }, {}],
    ['binding', { cnf: {} }, {}],
  ])('AUTH-2: is %s for claims %j and header %j', async (flaw, claims, header) => {
    const { alg, ...rest } = { alg: undefined, ...header };
    const [, payload] = (await issuer.sign(claims)).split('.');
    const token =
      alg === undefined
        ? await issuer.sign(claims, rest)
        : `${encode({ alg, typ: 'at+jwt' })}.${payload}.AAAA`;
    expect(await flawOf(token)).toBe(flaw);
  });

  it('AUTH-2: is the consumer, the signature or a malformed token', async () => {
    const token = await issuer.sign();
    expect(await flawOf(token, { consumerClaims: ['account'] })).toBe('consumer');
    expect(await flawOf(`${token.slice(0, token.lastIndexOf('.'))}.AAAA`)).toBe('signature');
    expect(await flawOf('hello')).toBe('malformed');
  });
});

describe('claims', () => {
  it.each([
    ['JWT-1: iss with a trailing slash', () => ({ iss: `${issuer.url}/` })],
    ['JWT-1: iss missing', () => ({ iss: undefined })],
    ['JWT-1: aud list without our audience', () => ({ aud: ['billing', 'sundial-samples-2'] })],
    ['JWT-1: aud that begins like our audience', () => ({ aud: 'sundial-samples-2' })],
    ['JWT-1: aud missing', () => ({ aud: undefined })],
    ['JWT-1: aud as an object', () => ({ aud: { 'sundial-samples': true } })],
    ['JWT-2: exp as a string', () => ({ exp: `${SECONDS + 600}` })],
    ['JWT-2: exp missing', () => ({ exp: undefined })],
    ['JWT-2: exp null', () => ({ exp: null })],
    ['JWT-2: iat missing', () => ({ iat: undefined })],
    ['JWT-2: sub missing', () => ({ sub: undefined })],
    ['JWT-2: sub empty', () => ({ sub: '' })],
    ['JWT-2: a lifetime of 3631 s', () => ({ exp: SECONDS + 3631 })],
    ['JWT-2: exp before iat', () => ({ iat: SECONDS + 20, exp: SECONDS + 10 })],
    ['JWT-1: nbf beyond the leeway', () => ({ nbf: SECONDS + 31 })],
    ['JWT-1: nbf as a string', () => ({ nbf: '0' })],
    ['JWT-1: iat beyond the leeway', () => ({ iat: SECONDS + 31 })],
    ['JWT-5: nonce, as ID tokens have it', () => ({ nonce: 'n-0S6_WzA2Mj' })],
    ['JWT-5: at_hash, as ID tokens have it', () => ({ at_hash: 'MTIzNDU2Nzg5MDEyMzQ1Ng' })],
    ['JWT-5: events, as logout tokens have them', () => ({ events: {} })],
    ['JWT-6: cnf with jkt (DPoP)', () => ({ cnf: { jkt: 'thumbprint' } })],
    ['JWT-6: cnf with x5t#S256 (mTLS)', () => ({ cnf: { 'x5t#S256': 'thumbprint' } })],
    ['JWT-6: cnf null', () => ({ cnf: null })],
    ['a consumer id that is not text', () => ({ client_id: 7 })],
  ])('%s is refused', async (_name, claims) => {
    expect(await verifier.verify(await issuer.sign(claims()))).toEqual(INVALID);
  });

  it('JWT-2: exp too large for a number is refused', async () => {
    const good = { iss: issuer.url, aud: 'sundial-samples', sub: 'acme', iat: SECONDS };
    expect(
      await verifier.verify(await issuer.sign(JSON.stringify({ ...good, exp: SECONDS + 60 }))),
    ).toMatchObject({
      kind: 'consumer',
    });
    const endless = `${JSON.stringify(good).slice(0, -1)},"exp":1e999}`;
    expect(await verifier.verify(await issuer.sign(endless))).toEqual(INVALID);
  });

  it.each([
    ['in plain text', '"sub":"acme"'],
    ['with an escape', '"s\\u0075b":"acme"'],
  ])('JWT-1: a claim written twice, %s, is refused', async (_name, second) => {
    const good = { iss: issuer.url, aud: 'sundial-samples', sub: 'acme', iat: SECONDS, exp: SECONDS + 60 };
    const doubled = `${JSON.stringify(good).slice(0, -1)},${second}}`;
    expect(await verifier.verify(await issuer.sign(doubled))).toEqual(INVALID);
  });

  it.each(['[]', '"text"', 'null', '{', '{"a":1}x'])('JWT-1: the payload %s is refused', async (payload) => {
    expect(await verifier.verify(await issuer.sign(payload))).toEqual(INVALID);
  });

  it('AUTH-2: a token is reported as expired once exp and the leeway have passed', async () => {
    const token = await issuer.sign({ iat: SECONDS - 3600, exp: SECONDS - 30 });
    expect(await verifier.verify(token)).toEqual(EXPIRED);
  });

  it('JWT-1: an expired token with a wrong signature is not reported as expired', async () => {
    const token = await other.sign({ iss: issuer.url, iat: SECONDS - 3600, exp: SECONDS - 600 });
    expect(await verifier.verify(token)).toEqual(INVALID);
  });
});

describe('header and signature', () => {
  it.each(['none', 'nOnE', 'None', ''])('JWT-1: alg "%s" without a signature is refused', async (alg) => {
    const payload = (await issuer.sign()).split('.')[1] ?? '';
    const header = encode({ alg, typ: 'at+jwt' });
    expect(await verifier.verify(`${header}.${payload}.`)).toEqual(INVALID);
    expect(await verifier.verify(`${header}.${payload}.AA`)).toEqual(INVALID);
  });

  it('JWT-1: HS256 with our RSA public key as its secret is refused, even if HS256 is allowed', async () => {
    const jwk = issuer.publicKeys()[0] ?? {};
    const spki = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const payload = (await issuer.sign()).split('.')[1] ?? '';
    for (const kid of ['rs256-1', undefined]) {
      const input = `${encode({ alg: 'HS256', typ: 'at+jwt', kid })}.${payload}`;
      const token = `${input}.${createHmac('sha256', spki).update(input).digest('base64url')}`;
      expect(await verifier.verify(token)).toEqual(INVALID);
      expect(await verdictWith({ algorithms: ['RS256', 'HS256'] }, token)).toEqual(INVALID);
    }
  });

  it('JWT-1: an algorithm that matches the key but is not listed is refused', async () => {
    const token = await issuer.sign({}, { alg: 'ES256' });
    expect(await verdictWith({ algorithms: ['RS256'] }, token)).toEqual(INVALID);
  });

  it.each([
    ['typ missing', { typ: undefined }],
    ['typ dpop+jwt (JWT-5)', { typ: 'dpop+jwt' }],
    ['typ logout+jwt (JWT-5)', { typ: 'logout+jwt' }],
    ['a kid that fits another algorithm', { kid: 'es256-1' }],
    ['an unknown kid', { kid: '../../etc/passwd' }],
    ['a kid that is a number', { kid: 1 }],
    ['a kid of 257 characters', { kid: 'k'.repeat(257) }],
    ['an unknown crit', { crit: ['exp-hint'], 'exp-hint': 1 }],
    ['an empty crit', { crit: [] }],
    ['b64:false', { b64: false }],
    ['b64:false made critical', { b64: false, crit: ['b64'] }],
  ])('JWT-1, JWT-3: %s is refused', async (_name, header) => {
    expect(await verifier.verify(await issuer.sign({}, header))).toEqual(INVALID);
  });

  it.each<[types: readonly string[], typ: string | undefined, kind: string]>([
    [['at+jwt', 'jwt', 'none'], undefined, 'consumer'],
    [['at+jwt', 'jwt', 'none'], 'JWT', 'consumer'],
    [['at+jwt', 'jwt', 'none'], 'at+jwt', 'consumer'],
    [['at+jwt', 'jwt', 'none'], 'none', 'refused'],
    [['at+jwt', 'jwt', 'none'], 'dpop+jwt', 'refused'],
    [['at+jwt', 'jwt', 'none'], '', 'refused'],
    [['none'], undefined, 'consumer'],
    [['none'], 'none', 'refused'],
    [['none'], 'at+jwt', 'refused'],
    [['at+jwt'], undefined, 'refused'],
    [['at+jwt'], '', 'refused'],
  ])('JWT-1: with types %j, a token of typ %s is judged %s', async (tokenTypes, typ, kind) => {
    expect((await verdictWith({ tokenTypes }, await issuer.sign({}, { typ }))).kind).toBe(kind);
  });

  it('JWT-5: an ID token without typ is refused even if tokens without typ are accepted', async () => {
    const idToken = await issuer.sign({ nonce: 'n' }, { typ: undefined });
    expect(await verdictWith({ tokenTypes: ['none'] }, idToken)).toEqual(INVALID);
  });

  it('JWT-1: typ at+jwt is refused if the settings accept only JWT', async () => {
    expect(await verdictWith({ tokenTypes: ['jwt'] }, await issuer.sign())).toEqual(INVALID);
    expect(await verdictWith({ tokenTypes: [] }, await issuer.sign({}, { typ: 'JWT' }))).toEqual(INVALID);
  });

  it.each([{ client_id: undefined }, { jti: undefined }, { jti: '' }, { jti: 7 }])(
    'JWT-1: a profile that requires client_id and jti refuses %j',
    async (claims) => {
      const token = await issuer.sign(claims);
      expect(await verdictWith({}, token)).toMatchObject({ kind: 'consumer' });
      const outcome = await verdictWith({ requiredClaims: ['client_id', 'jti'] }, token);
      expect(outcome).toMatchObject({ kind: 'refused', refusal: { flaw: 'claims' } });
      const whole = await issuer.sign();
      expect(await verdictWith({ requiredClaims: ['client_id', 'jti'] }, whole)).toMatchObject({
        kind: 'consumer',
      });
    },
  );

  it('JWT-1: alg written twice in the header is refused', async () => {
    const header = '{"alg":"RS256","kid":"rs256-1","typ":"at+jwt"';
    expect(await verifier.verify(await issuer.sign({}, `${header}}`))).toMatchObject({ kind: 'consumer' });
    expect(await verifier.verify(await issuer.sign({}, `${header},"alg":"RS256"}`))).toEqual(INVALID);
  });

  it("JWT-1: another issuer's key is refused, with our kid and without one", async () => {
    expect(await verifier.verify(await other.sign({ iss: issuer.url }))).toEqual(INVALID);
    expect(await verifier.verify(await other.sign({ iss: issuer.url }, { kid: undefined }))).toEqual(INVALID);
    await other.rotate();
    expect(await verifier.verify(await other.sign({ iss: issuer.url }))).toEqual(INVALID);
  });

  it('JWT-3: keys in the header are not used, and URLs in the header are not fetched', async () => {
    let requests = 0;
    const trap = createServer((_request, response) => {
      requests += 1;
      response.end(JSON.stringify({ keys: other.publicKeys() }));
    });
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/`;
    const offer = { jwk: other.publicKeys()[0], jku: address, x5u: address, x5c: ['MIIB'] };
    expect(await verifier.verify(await other.sign({ iss: issuer.url }, offer))).toEqual(INVALID);
    expect(await verifier.verify(await issuer.sign({}, offer))).toMatchObject({ kind: 'consumer' });
    expect(requests).toBe(0);
    await new Promise((resolve) => trap.close(resolve));
  });

  it('JWT-1: a changed payload with the signature of another is refused', async () => {
    const [header, , signature] = (await issuer.sign()).split('.');
    const payload = (await issuer.sign({ client_id: 'globex' })).split('.')[1];
    expect(await verifier.verify(`${header}.${payload}.${signature}`)).toEqual(INVALID);
  });
});

describe('shape', () => {
  it.each<[string, (token: string) => string]>([
    ['a standard base64 character', (token) => token.replace(/[-_]/, '+')],
    ['padding', (token) => `${token}==`],
    ['spaces inside a part', (token) => `${token.slice(0, 20)} ${token.slice(20)}`],
    ['a line break at its end', (token) => `${token}\n`],
    ['a part of impossible length', (token) => token.replace(/\.[^.]*$/, '.AAAAA')],
    ['spare bits set in the last character', (token) => respell(token)],
    ['an empty signature', (token) => token.replace(/\.[^.]*$/, '.')],
    ['two parts', (token) => token.split('.').slice(0, 2).join('.')],
    ['four parts', (token) => `${token}.AA`],
    ['five parts, as encrypted tokens have (JWT-8)', (token) => `${token}.AA.AA`],
    ['no characters', () => ''],
    ['a header that is not JSON', (token) => `${encode('alg')}.${token.split('.').slice(1).join('.')}`],
    ['a header that is not UTF-8', (token) => `_w.${token.split('.').slice(1).join('.')}`],
  ])('JWT-1: a token with %s is refused at once', async (_name, spoil) => {
    const token = await issuer.sign();
    expect(spoil(token)).not.toBe(token);
    expect(verifier.verify(spoil(token))).toEqual(INVALID);
  });

  it('JWT-8: a token over 8 KiB is refused, although its signature is valid', async () => {
    expect(await verifier.verify(await issuer.sign({ note: 'n'.repeat(5_000) }))).toMatchObject({
      kind: 'consumer',
    });
    expect(verifier.verify(await issuer.sign({ note: 'n'.repeat(6_500) }))).toEqual(INVALID);
  });
});

/** Another spelling of the same bytes: 256 bytes leave 4 bits of the last character unused. */
function respell(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(token.at(-1) ?? '');
  return token.slice(0, -1) + alphabet[last + 1];
}
