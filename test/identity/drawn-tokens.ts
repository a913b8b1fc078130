// Random tokens with occasional flaws in each part, and the keys and settings to verify them.
import { constants, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import fc from 'fast-check';
import type { JWK } from 'jose';
import type { JwtIdentity } from '../../gateway/plan/settings.ts';

/** Within a second, because times are compared in whole seconds. */
export const AT = Date.parse('2026-11-21T08:00:00.700Z');
const T = Math.floor(AT / 1000);
const ISSUER = 'https://auth.example.com';

const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength });
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const PAIRS = {
  rsa: rsa(2048),
  otherRsa: rsa(2048),
  weakRsa: rsa(1024),
  p256: ec('P-256'),
  otherP256: ec('P-256'),
  p384: ec('P-384'),
  p521: ec('P-521'),
  secp256k1: ec('secp256k1'),
  ed25519: generateKeyPairSync('ed25519'),
  otherEd25519: generateKeyPairSync('ed25519'),
};
type PairName = keyof typeof PAIRS;

const jwkOf = (pair: PairName, members: Readonly<Record<string, unknown>>): JWK => ({
  ...PAIRS[pair].publicKey.export({ format: 'jwk' }),
  ...members,
});

const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const ALGORITHMS = [...RSA, 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];

const PUBLISHED: readonly JWK[] = [
  jwkOf('rsa', { kid: 'rs256', alg: 'RS256', use: 'sig' }),
  jwkOf('rsa', { kid: 'ps256', alg: 'PS256' }),
  jwkOf('rsa', { kid: 'rsa' }),
  jwkOf('otherRsa', { kid: 'twin' }),
  jwkOf('rsa', { kid: 'twin' }),
  ...Array.from({ length: 4 }, () => jwkOf('otherRsa', { kid: 'crowd' })),
  jwkOf('rsa', { kid: 'crowd' }),
  jwkOf('rsa', { alg: 'RS384' }),
  jwkOf('p256', { kid: 'es256', alg: 'ES256' }),
  jwkOf('otherP256', { kid: 'twin' }),
  jwkOf('p256', { kid: 'twin' }),
  jwkOf('p384', { kid: 'ec' }),
  jwkOf('p521', { kid: 'ec' }),
  jwkOf('ed25519', { kid: 'eddsa', alg: 'EdDSA' }),
  jwkOf('ed25519', { kid: 'ed25519', alg: 'Ed25519' }),
  jwkOf('otherEd25519', { kid: 'okp' }),
  jwkOf('rsa', { kid: 'operations', key_ops: ['verify'], ext: true }),
  jwkOf('rsa', { kid: 'signs', key_ops: ['sign'] }),
  jwkOf('rsa', { kid: 'repeated', key_ops: ['verify', 'verify'] }),
  jwkOf('rsa', { kid: 'no-operations', key_ops: [] }),
  jwkOf('rsa', { kid: 'no-list', key_ops: 'verify' }),
  jwkOf('rsa', { kid: 'ext', ext: 'true' }),
  jwkOf('rsa', { kid: 'encrypts', use: 'enc' }),
  jwkOf('rsa', { kid: 'wrong-alg', alg: 'ES256' }),
  jwkOf('p256', { kid: 'wrong-alg', alg: 'ES384' }),
  jwkOf('p256', { kid: 'wrong-curve', crv: 'P-384' }),
  jwkOf('secp256k1', { kid: 'wrong-curve' }),
  jwkOf('weakRsa', { kid: 'weak' }),
];

/** jose selects these keys but cannot import them. */
export const NOT_IMPORTED: readonly (readonly [name: string, key: JWK])[] = [
  ['key_ops beyond verify', jwkOf('rsa', { kid: 'odd', key_ops: ['sign', 'verify'] })],
  ['unknown key_ops', jwkOf('rsa', { kid: 'odd', key_ops: ['verify', 'else'] })],
  ['a modulus of 1024 bits after zeros', jwkOf('weakRsa', { kid: 'odd', n: zeroPadded('weakRsa') })],
  ['a private member of another kind of key', jwkOf('rsa', { kid: 'odd', priv: 'AA' })],
];

function zeroPadded(pair: PairName): string {
  const modulus = Buffer.from(jwkOf(pair, {}).n ?? '', 'base64url');
  return Buffer.concat([Buffer.alloc(256 - modulus.length), modulus]).toString('base64url');
}

/** A valid token, signed with RS256. */
export function goodToken(kid: string, pair: 'rsa' | 'weakRsa' = 'rsa'): string {
  const header = { alg: 'RS256', kid, typ: 'at+jwt' };
  const claims = { iss: ISSUER, aud: 'api', sub: 'acme', client_id: 'acme', jti: '1', iat: T, exp: T + 60 };
  const input = [header, claims].map((each) => Buffer.from(stringify(each)).toString('base64url')).join('.');
  return `${input}.${signed(input, PAIRS[pair].privateKey, 'RS256', {}).toString('base64url')}`;
}

export const KEY_SETS: readonly (readonly JWK[])[] = [
  PUBLISHED,
  [jwkOf('rsa', {})],
  [jwkOf('weakRsa', { kid: 'weak' }), jwkOf('rsa', { kid: 'rs256', use: 'enc' })],
];

export const USUAL: JwtIdentity = {
  kind: 'jwt',
  name: 'main',
  issuer: ISSUER,
  audience: 'api',
  jwksUrl: `${ISSUER}/keys`,
  algorithms: ALGORITHMS,
  consumerClaims: ['client_id', 'azp', 'sub'],
  maxLifetimeSeconds: 600,
  tokenTypes: ['at+jwt'],
  tokenCacheMs: 0,
};
export const SETTINGS: readonly JwtIdentity[] = [
  USUAL,
  {
    ...USUAL,
    algorithms: ['RS256', 'RS384', 'PS256', 'ES256', 'EdDSA'],
    tokenTypes: ['at+jwt', 'jwt', 'text/token', 'none'],
    consumerClaims: ['client_id'],
    requiredClaims: ['client_id', 'jti'],
    prefixes: { own: 'main/', others: ['main/partner/'] },
  },
  { ...USUAL, tokenTypes: ['none'] },
];

const weighted =
  (weight: number) =>
  <Value>(usual: fc.Arbitrary<Value>, ...odd: fc.Arbitrary<Value>[]): fc.Arbitrary<Value> =>
    fc.oneof({ weight, arbitrary: usual }, ...odd.map((arbitrary) => ({ weight: 1, arbitrary })));
/** Flaws of these parts hide flaws of the claims, so they are rare. */
const usually = weighted(60);
/** Often enough for two flaws in one token: the first one found is reported. */
const mostly = weighted(16);
const is = <Value>(value: Value) => fc.constant<unknown>(value);
const oneOf = (...values: readonly unknown[]) => fc.constantFrom<unknown>(...values);

interface Way {
  readonly kid: string | undefined;
  readonly alg: string;
  readonly pair: PairName;
}
const way = (pair: PairName, kid: string | undefined, ...algorithms: readonly string[]): Way[] =>
  algorithms.map((alg) => ({ kid, alg, pair }));
/** The combinations of key, algorithm and kid. */
const WAYS: readonly Way[] = [
  ...way('rsa', 'rs256', 'RS256', 'RS256', 'RS256'),
  ...way('rsa', 'ps256', 'PS256'),
  ...['rsa', 'twin', 'operations'].flatMap((kid) => way('rsa', kid, ...RSA)),
  ...way('p256', 'es256', 'ES256', 'ES256'),
  ...way('p256', 'twin', 'ES256'),
  ...way('p384', 'ec', 'ES384'),
  ...way('p521', 'ec', 'ES512'),
  ...way('ed25519', 'eddsa', 'EdDSA'),
  ...way('ed25519', 'ed25519', 'Ed25519'),
  ...way('otherEd25519', 'okp', 'EdDSA', 'Ed25519'),
  ...way('rsa', undefined, ...RSA),
  ...way('p256', undefined, 'ES256'),
];
const ODD_WAYS: readonly Way[] = [
  ...way('rsa', 'crowd', 'RS256'),
  ...way('otherRsa', 'rs256', 'RS256'),
  ...way('rsa', 'rs256', 'RS384', 'PS256'),
  ...way('ed25519', 'eddsa', 'Ed25519'),
  ...way('ed25519', 'ed25519', 'EdDSA'),
  ...['signs', 'repeated', 'no-operations', 'no-list', 'ext', 'encrypts', 'wrong-alg'].flatMap((kid) =>
    way('rsa', kid, 'RS256'),
  ),
  ...way('p256', 'wrong-alg', 'ES256', 'ES384'),
  ...way('p256', 'wrong-curve', 'ES256', 'ES384'),
  ...way('secp256k1', 'wrong-curve', 'ES256'),
  ...way('secp256k1', 'es256', 'ES256'),
  ...way('p384', 'es256', 'ES256'),
  ...way('p256', 'ec', 'ES384'),
  ...way('weakRsa', 'weak', 'RS256'),
  ...way('p521', undefined, 'ES512'),
];

const time = (...offsets: readonly number[]) =>
  mostly(
    oneOf(...offsets.map((offset) => T + offset)),
    oneOf(undefined, null, `${T}`, true, [T]),
    oneOf(...[-631, -630, -629, -31, -30, -29, 0, 29, 30, 31, 600, 630, 631].map((offset) => T + offset)),
    oneOf(T + 30.5, T + 29.999, T - 30.5, T - 29.001, T - 629.5, T - 630.5, 0, -0),
    oneOf(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, -1e300, Number.MAX_SAFE_INTEGER),
  );

const text = (...good: readonly string[]) =>
  mostly(
    oneOf(...good),
    oneOf(undefined, '', null, 7, ['acme'], {}),
    oneOf('main/partner/x', 'a b', '\ud800'),
  );

const CLAIMS = fc.record<Readonly<Record<string, unknown>>>({
  iss: mostly(is(ISSUER), oneOf(undefined, `${ISSUER}/`, '', null, 1, [ISSUER], ISSUER.toUpperCase())),
  aud: mostly(
    oneOf('api', ['api'], ['billing', 'api']),
    oneOf(undefined, 'apis', '', [], null, 1, { api: 1 }, [['api']], ['billing', 1], [null, 'api']),
  ),
  sub: text('acme'),
  client_id: text('acme', 'globex'),
  azp: oneOf(undefined, undefined, 'azp'),
  iat: time(0, -10, -60),
  nbf: fc.oneof({ weight: 6, arbitrary: is(undefined) }, time(0, -60)),
  exp: time(1, 60, 500),
  jti: text('1'),
  scope: mostly(is('orders:read  orders:write'), oneOf(undefined, '', ['orders:read'], null)),
  cnf: mostly(
    is(undefined),
    oneOf({}, null, { jkt: 'x' }, { 'x5t#S256': 'x' }, { 'x5t#S256': 'A'.repeat(43) }),
  ),
  nonce: mostly(is(undefined), oneOf('n', null)),
  events: mostly(is(undefined), oneOf({})),
  note: mostly(is(undefined), fc.jsonValue({ maxDepth: 2 }), oneOf('","iss":"x', '\\', '{[:', 'ä€😀')),
});

const HEADER = fc.record<Readonly<Record<string, unknown>>>({
  typ: usually(
    oneOf('at+jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt', 'Application/At+Jwt', undefined),
    oneOf('JWT', 'jwt', 'none', '', 'text/token', 'application/text/token', 'TEXT/Token', 'dpop+jwt'),
    oneOf('application/', 'application/none', 'application/application/at+jwt', ' at+jwt', null, 1, [
      'at+jwt',
    ]),
  ),
  crit: usually(is(undefined), oneOf([], ['exp'], ['b64'], null, 'b64')),
  b64: usually(is(undefined), oneOf(true, false, null)),
  jwk: usually(is(undefined), is(jwkOf('otherRsa', {}))),
});

/** Replaces header values without signing again. */
const OVERRIDES = fc.record({
  alg: usually(
    is('signed'),
    oneOf(...ALGORITHMS),
    oneOf('none', 'HS256', 'rs256', '', undefined, null, 1, ['RS256']),
  ),
  kid: usually(
    is('signed'),
    oneOf(...PUBLISHED.map(({ kid }) => kid)),
    oneOf('unknown', '', undefined, null, 1, '__proto__', 'k'.repeat(256), 'k'.repeat(257)),
  ),
});

type Bytes = (object: string) => Buffer;
const utf8: Bytes = (object) => Buffer.from(object);
const ending =
  (more: string): Bytes =>
  (object) =>
    Buffer.from(`${object.slice(0, -1)}${more}}`);
const JSON_FORMS: fc.Arbitrary<Bytes> = usually(
  fc.constant(utf8),
  fc.constantFrom<Bytes>(
    (object) => Buffer.from(`\ufeff${object}`),
    (object) => Buffer.from(` \n${object}\t`),
    (object) => Buffer.from(`${object}x`),
    (object) => Buffer.from(`${object}\0`),
    (object) => Buffer.from(object, 'utf16le'),
    (object) => Buffer.concat([Buffer.from(`${object.slice(0, -1)},"x":"`), Buffer.from([0xff, 0x22, 0x7d])]),
    (object) => Buffer.from(object.slice(0, -1)),
    (object) => Buffer.from(`[${object}]`),
    ...['null', '1', '"text"', '[]', '{}', '', '{"a":1,}', "{'a':1}", `${'['.repeat(3_000)}`].map(
      (json) => () => Buffer.from(json),
    ),
  ),
  fc.constantFrom(
    ending(',"x":"\\ud800"'),
    ending(',"x":1e999'),
    ending(',"x":{"iss":1,"iss":2}'),
    ending(',"x":1,"x":1'),
    ending(',"__proto__":{"sub":"x"}'),
    ending(',"toString":1'),
  ),
  fc
    .constantFrom('alg', 'kid', 'typ', 'iss', 'sub', 'exp', '\\u0073ub')
    .map((name) => ending(`,"${name}":"x"`)),
);

interface Parts {
  readonly header: string;
  readonly payload: string;
  readonly signature: string;
}
const SHAPES: fc.Arbitrary<(parts: Parts) => string> = usually(
  fc.constant(joined),
  fc
    .record({
      part: fc.constantFrom<keyof Parts>('header', 'payload', 'signature'),
      change: fc.constantFrom<(part: string) => string>(
        (part) => `${part}=`,
        (part) => `${part}A`,
        (part) => `${part}AA`,
        (part) => part.slice(0, -1),
        (part) => part.replace(/[-_]/, '+'),
        (part) => part.replace(/[-_]/, '/'),
        (part) => ` ${part}`,
        (part) => `${part}\n`,
        (part) => `${part}.`,
        (part) => `${part}\u00e9`,
        () => '',
        respelt,
      ),
    })
    .map(
      ({ part, change }) =>
        (parts) =>
          joined({ ...parts, [part]: change(parts[part]) }),
    ),
  fc.constantFrom<(parts: Parts) => string>(
    ({ header, payload }) => `${header}.${payload}`,
    (parts) => `${joined(parts)}.AA`,
    (parts) => joined(parts).padEnd(8193, 'A'),
    () => 'opaque',
  ),
);

function joined({ header, payload, signature }: Parts): string {
  return `${header}.${payload}.${signature}`;
}

/** Sets the spare bits of the last character: another spelling of the same bytes. */
function respelt(part: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(part.at(-1) ?? '');
  return `${part.slice(0, -1)}${alphabet[(last + 1) % 64]}`;
}

const SIGNATURES: fc.Arbitrary<(good: Buffer, resign: (form: Form) => Buffer) => Buffer> = usually(
  fc.constant((good) => good),
  fc.nat().map((at) => (good) => good.with(at % good.length, (good[at % good.length] ?? 0) ^ 1) as Buffer),
  fc.constantFrom<(good: Buffer, resign: (form: Form) => Buffer) => Buffer>(
    (good) => good.subarray(1),
    (good) => good.subarray(0, -1),
    (good) => Buffer.concat([good, Buffer.alloc(1)]),
    (good) => Buffer.concat([Buffer.alloc(1), good]),
    (good) => Buffer.alloc(good.length),
    (good) => Buffer.concat([good, good]),
    (_, resign) => resign({ dsaEncoding: 'der' }),
    (_, resign) => resign({ saltLength: 0 }),
    (_, resign) => resign({ saltLength: 20 }),
    (_, resign) => resign({ digest: 'sha1' }),
    (_, resign) => resign({ digest: 'sha512' }),
  ),
);

interface Form {
  readonly digest?: string;
  readonly saltLength?: number;
  readonly dsaEncoding?: 'der';
}

function signed(input: string, key: KeyObject, alg: string, form: Form): Buffer {
  if (key.asymmetricKeyType === 'ed25519') return sign(null, Buffer.from(input), key);
  const bits = alg.slice(2);
  const isPss = alg.startsWith('PS');
  return sign(form.digest ?? `sha${bits}`, Buffer.from(input), {
    key,
    dsaEncoding: form.dsaEncoding ?? 'ieee-p1363',
    padding: isPss ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING,
    ...(isPss && { saltLength: form.saltLength ?? Number(bits) / 8 }),
  });
}

/** Writes infinities as numbers that are too large. Undefined members are omitted. */
function stringify(members: Readonly<Record<string, unknown>>): string {
  const spelt = Object.entries(members).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const infinite = typeof value === 'number' && !Number.isFinite(value);
    return `${JSON.stringify(name)}:${infinite ? (value < 0 ? '-1e999' : '1e999') : JSON.stringify(value)}`;
  });
  return `{${spelt.join(',')}}`;
}

export const DRAWN_TOKENS: fc.Arbitrary<string> = fc
  .record({
    way: usually(fc.constantFrom(...WAYS), fc.constantFrom(...ODD_WAYS), fc.constantFrom(...ODD_WAYS)),
    overrides: OVERRIDES,
    header: HEADER,
    headerForm: JSON_FORMS,
    claims: CLAIMS,
    payloadForm: JSON_FORMS,
    signature: SIGNATURES,
    shape: SHAPES,
  })
  .map(({ way, overrides, header, headerForm, claims, payloadForm, signature, shape }) => {
    const alg = overrides.alg === 'signed' ? way.alg : overrides.alg;
    const kid = overrides.kid === 'signed' ? way.kid : overrides.kid;
    const parts = {
      header: headerForm(stringify({ alg, kid, ...header })).toString('base64url'),
      payload: payloadForm(stringify(claims)).toString('base64url'),
    };
    const resign = (form: Form) =>
      signed(`${parts.header}.${parts.payload}`, PAIRS[way.pair].privateKey, way.alg, form);
    const good = resign({});
    return shape({ ...parts, signature: signature(good, resign).toString('base64url') });
  });
