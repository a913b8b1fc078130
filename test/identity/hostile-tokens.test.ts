// Every kind of hostile request we know of, each with the exact status and what the log says of it (§13.1, §13.2).
// The real pipeline, the real verifiers of two issuers and of one that is away; keys come over sockets.
import { createHash, createHmac, createPublicKey } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createExchange, type Exchange } from '../../gateway/exchange/exchange.ts';
import type { RequestView } from '../../gateway/exchange/request-view.ts';
import { createTokenVerifier } from '../../gateway/identity/verifier.ts';
import { tokenAuthenticator } from '../../gateway/policy/authentication/token-authenticator.ts';
import { gcra } from '../../gateway/policy/rate-limit/gcra.ts';
import { ACCESS, api, NOW, plan, upstream, version, view } from '../support/exchange-samples.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { NEW_KEYS } from '../support/new-keys.ts';

const T = NOW / 1000;
const stack = new AsyncDisposableStack();
let main: TestIssuer;
let partner: TestIssuer;
/** By who is asked: one issuer, two, or one that is away. */
let exchanges: Readonly<Record<Asked, Exchange>>;
type Asked = 'main' | 'both' | 'away';

beforeAll(async () => {
  const start = async () =>
    stack.adopt(await startTestIssuer({ now: () => NOW }), (issuer) => issuer.close());
  main = await start();
  partner = await start();
  await partner.rotate();
  // Nobody listens there.
  const away = { settings: { ...main.settings, jwksUrl: 'http://127.0.0.1:9/keys' } };
  const open = ({ settings }: Pick<TestIssuer, 'settings'>, name: string) => {
    const only = { ...settings, name, tokenTypes: ['at+jwt'] };
    return [
      name,
      stack.adopt(createTokenVerifier(only, { now: () => NOW }), (each) => each.close()),
    ] as const;
  };
  const verifiers = new Map([open(main, 'main'), open(partner, 'partner'), open(away, 'away')]);
  const exchangeOf = (identities: readonly string[]) => {
    const rules = version({ access: { ...ACCESS, identities }, upstream });
    const current = plan([api([rules])]);
    return createExchange({
      plan: () => current,
      now: () => NOW,
      wallClock: () => NOW,
      monotonic: () => 0,
      guard: (_address, limit) => gcra(undefined, limit, 1, 0).taken,
      limiter: {
        take: (parts) =>
          parts.map(({ limit, cost, rule }) => ({
            kind: 'counted',
            limit,
            rule,
            ...gcra(undefined, limit, cost, 0).taken,
          })),
      },
      pins: { find: () => undefined, claim: async (_key, pin) => pin, replace: async () => true },
      idempotency: NEW_KEYS,
      ledger: undefined,
      adoption: { saw: () => undefined, isLate: () => false },
      overrides: () => [],
      authenticators: new Map([...verifiers].map(([name, each]) => [name, tokenAuthenticator(each)])),
      onFault: () => undefined,
      hstsSeconds: undefined,
    });
  };
  exchanges = {
    main: exchangeOf(['main']),
    both: exchangeOf(['main', 'partner']),
    away: exchangeOf(['away']),
  };
});
afterAll(() => stack.disposeAsync());

/** The status of the answer, and the refusal with the flaw of the token, or the fault. */
async function judge(request: Partial<RequestView>, asked: Asked): Promise<readonly [number, string]> {
  const exchange = exchanges[asked];
  const asking = view(request);
  const facts = exchange.begin(asking.requestId);
  try {
    const directive = await exchange.decide(asking, facts);
    if (directive.kind !== 'refuse') return [200, `${directive.kind} ${facts.consumer?.id}`];
    const { status } = exchange.refuse(directive.refusal, facts, asking);
    return [status, facts.tokenFlaw ?? directive.refusal.reason];
  } catch (thrown) {
    return [exchange.fail(thrown, facts, asking).status, facts.fault ?? ''];
  }
}

const base64url = (value: string | Uint8Array) => Buffer.from(value).toString('base64url');
const json = (value: unknown) => base64url(JSON.stringify(value));
const partsOf = (token: string) => {
  const [header = '', payload = '', signature = ''] = token.split('.');
  return { header, payload, signature };
};

// Ways to make a token.
type Make = () => string | Promise<string>;
type Members = Readonly<Record<string, unknown>>;
/** What a function gives is had when the keys are there. */
const now = (members: Members): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, typeof value === 'function' ? value() : value]),
  );
const claims =
  (over: object, header: Members = {}): Make =>
  () =>
    main.sign({ ...over }, now(header));
const header = (over: Members): Make => claims({}, over);
/** The good claims as text, with `more` behind them. */
const claimsText =
  (more: string): Make =>
  () => {
    const good = {
      iss: main.url,
      aud: 'sundial-samples',
      sub: 'acme',
      client_id: 'acme',
      iat: T,
      exp: T + 600,
    };
    const text = JSON.stringify({ ...good, scope: 'orders:read' });
    return main.sign(`${text.slice(0, -1)}${more}}`);
  };
const bareClaims =
  (times: string): Make =>
  () =>
    main.sign(`{"iss":"${main.url}","aud":"sundial-samples","sub":"acme","client_id":"acme",${times}}`);
const headerWith = (more: string) => `{"alg":"RS256","kid":"rs256-1","typ":"at+jwt"${more}}`;
const headerText =
  (more: string): Make =>
  () =>
    main.sign({}, headerWith(more));
const spoilt =
  (spoil: (parts: ReturnType<typeof partsOf>, token: string) => string, alg = 'RS256'): Make =>
  async () => {
    const token = await main.sign({}, { alg });
    const hostile = spoil(partsOf(token), token);
    if (hostile === token) throw new Error('nothing was spoilt');
    return hostile;
  };
const signature = (change: (good: Buffer) => Uint8Array, alg = 'ES256'): Make =>
  spoilt((parts) => {
    const changed = change(Buffer.from(parts.signature, 'base64url'));
    return `${parts.header}.${parts.payload}.${base64url(changed)}`;
  }, alg);
/** Signed by HMAC with something that everybody knows. */
const keyed = (secretOf: (pem: string, jwk: object) => string | Buffer, over: object = {}): Make =>
  spoilt(({ payload }) => {
    const [jwk = {}] = main.publicKeys();
    const pem = createPublicKey({ key: jwk, format: 'jwk' })
      .export({ type: 'spki', format: 'pem' })
      .toString();
    const input = `${json({ alg: 'HS256', typ: 'at+jwt', kid: 'rs256-1', ...over })}.${payload}`;
    return `${input}.${createHmac('sha256', secretOf(pem, jwk)).update(input).digest('base64url')}`;
  });
/** Signed by a key of the other issuer's, which says of it what it likes. */
const attacker =
  (over: Members, claimed: Members = {}): Make =>
  () =>
    partner.sign({ iss: main.url, ...claimed }, { kid: 'rs256-1', ...now(over) });
const offeredJwk = () => partner.publicKeys()[0];
const unsigned = (alg: string, mark: string): Make =>
  spoilt(({ payload }) => `${json({ alg, typ: 'at+jwt' })}.${payload}.${mark}`);
/** Of exactly so many characters; a part of base64url cannot have every length, so that the header takes some. */
const ofLength =
  (wanted: number): Make =>
  async () => {
    for (let padding = Math.floor((wanted - 430) * 0.75) - 220; padding < wanted; padding += 1) {
      for (const spare of ['', 'x', 'xx']) {
        const text = `{"alg":"RS256","kid":"rs256-1","typ":"at+jwt","x":"${spare}"}`;
        const length = base64url(text).length + 2 + 342;
        const filled = await unsignedClaims(padding);
        if (base64url(filled).length + length === wanted) return main.sign(filled, text);
      }
    }
    throw new Error('no token has this length');
  };
const unsignedClaims = async (padding: number) =>
  JSON.stringify({
    iss: main.url,
    aud: 'sundial-samples',
    sub: 'acme',
    client_id: 'acme',
    scope: 'orders:read',
    iat: T,
    exp: T + 600,
    note: 'n'.repeat(padding),
  });
/** ECDSA-Sig-Value of RFC 3279 in place of the two numbers side by side. */
const der = (raw: Buffer) => {
  const integer = (bytes: Buffer) => {
    const padded = Buffer.concat([Buffer.from([0]), bytes]);
    return Buffer.concat([Buffer.from([2, padded.length]), padded]);
  };
  const both = Buffer.concat([integer(raw.subarray(0, 32)), integer(raw.subarray(32))]);
  return Buffer.concat([Buffer.from([0x30, both.length]), both]);
};
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const number = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** The same bytes by another last character: its spare bits are set. */
const respelt = (part: string) => {
  const last = ALPHABET.indexOf(part.at(-1) ?? '');
  const other = part.slice(0, -1) + ALPHABET[last + 1];
  if (!Buffer.from(other, 'base64url').equals(Buffer.from(part, 'base64url'))) throw new Error('other bytes');
  return other;
};

const PASS = 'forward acme';

const TOKENS: readonly (readonly [name: string, make: Make, status: number, says: string, asked?: Asked])[] =
  [
    // What is good, so that the rest is known to fail for what it says.
    ['good, RS256', claims({}), 200, PASS],
    ['good, ES256', header({ alg: 'ES256' }), 200, PASS],
    ['good, without kid', header({ kid: undefined }), 200, PASS],

    // Algorithms (RFC 8725 §3.1).
    ['alg none, empty signature', unsigned('none', ''), 401, 'malformed'],
    ['alg none, a signature', unsigned('none', 'AA'), 401, 'algorithms'],
    ['alg nOnE', unsigned('nOnE', 'AA'), 401, 'algorithms'],
    ['alg NONE', unsigned('NONE', 'AA'), 401, 'algorithms'],
    ['alg none with a space', unsigned('none ', 'AA'), 401, 'algorithms'],
    ['alg empty', unsigned('', 'AA'), 401, 'algorithms'],
    ['alg none under a good signature', header({ alg: undefined }), 401, 'malformed'],
    ['alg as a list', headerText(',"alg":["RS256"]'), 401, 'malformed'],
    ['alg as a number', () => main.sign({}, '{"alg":1,"kid":"rs256-1","typ":"at+jwt"}'), 401, 'malformed'],
    [
      'alg as a list of the right one',
      () => main.sign({}, '{"alg":["RS256"],"typ":"at+jwt"}'),
      401,
      'malformed',
    ],
    ['alg in lower case', () => main.sign({}, '{"alg":"rs256","typ":"at+jwt"}'), 401, 'algorithms'],
    ['alg __proto__', () => main.sign({}, '{"alg":"__proto__","typ":"at+jwt"}'), 401, 'algorithms'],
    ['HS256 keyed with the public key as PEM', keyed((pem) => pem), 401, 'algorithms'],
    ['HS256 keyed with the PEM without its line end', keyed((pem) => pem.trimEnd()), 401, 'algorithms'],
    [
      'HS256 keyed with the public key as DER',
      keyed((pem) => createPublicKey(pem).export({ type: 'spki', format: 'der' })),
      401,
      'algorithms',
    ],
    ['HS256 keyed with the public key as JWK', keyed((_, jwk) => JSON.stringify(jwk)), 401, 'algorithms'],
    ['HS256 keyed with nothing', keyed(() => ''), 401, 'algorithms'],
    [
      'HS256 with an embedded symmetric jwk',
      keyed(() => 'k', { jwk: { kty: 'oct', k: 'aw' } }),
      401,
      'algorithms',
    ],
    [
      'PS256 said of an RS256 signature',
      () => main.sign({}, '{"alg":"PS256","typ":"at+jwt"}'),
      401,
      'algorithms',
    ],
    [
      'RS512 said of an RS256 signature',
      () => main.sign({}, '{"alg":"RS512","typ":"at+jwt"}'),
      401,
      'algorithms',
    ],
    [
      'RS256 said of an ES256 signature',
      spoilt(
        (parts) =>
          `${json({ alg: 'RS256', kid: 'rs256-1', typ: 'at+jwt' })}.${parts.payload}.${parts.signature}`,
        'ES256',
      ),
      401,
      'signature',
    ],
    [
      'ES256 said of an RS256 signature',
      () => main.sign({}, '{"alg":"ES256","kid":"es256-1","typ":"at+jwt"}'),
      401,
      'signature',
    ],
    ['RS256 with the kid of the EC key', header({ kid: 'es256-1' }), 401, 'key_unknown'],
    ['ES256 with the kid of the RSA key', header({ alg: 'ES256', kid: 'rs256-1' }), 401, 'key_unknown'],
    ['ES256K', () => main.sign({}, '{"alg":"ES256K","kid":"es256-1","typ":"at+jwt"}'), 401, 'algorithms'],

    // Signatures.
    ['ES256, all zeros', signature((good) => Buffer.alloc(good.length)), 401, 'signature'],
    [
      'ES256, r and s the order of the curve',
      signature(() => Buffer.concat([number(P256_ORDER), number(P256_ORDER)])),
      401,
      'signature',
    ],
    [
      'ES256, r = 0',
      signature((good) => Buffer.concat([Buffer.alloc(32), good.subarray(32)])),
      401,
      'signature',
    ],
    [
      'ES256, s = 0',
      signature((good) => Buffer.concat([good.subarray(0, 32), Buffer.alloc(32)])),
      401,
      'signature',
    ],
    ['ES256, r = s = 1', signature(() => Buffer.concat([number(1n), number(1n)])), 401, 'signature'],
    ['ES256 as DER', signature(der), 401, 'signature'],
    ['ES256, one byte short', signature((good) => good.subarray(0, 63)), 401, 'signature'],
    ['ES256, one byte long', signature((good) => Buffer.concat([good, Buffer.alloc(1)])), 401, 'signature'],
    [
      'ES256, halves swapped',
      signature((good) => Buffer.concat([good.subarray(32), good.subarray(0, 32)])),
      401,
      'signature',
    ],
    [
      // Both of the pair are signatures of the key's holder (RFC 7518 §3.4 asks for no low s); the whole token is the key of the cache.
      'ES256, s taken from the other half of the curve',
      signature((good) =>
        Buffer.concat([
          good.subarray(0, 32),
          number(P256_ORDER - BigInt(`0x${good.subarray(32).toString('hex')}`)),
        ]),
      ),
      200,
      PASS,
    ],
    ['RS256, all zeros', signature(() => Buffer.alloc(256), 'RS256'), 401, 'signature'],
    [
      'RS256, the number 1',
      signature(() => Buffer.concat([Buffer.alloc(255), Buffer.from([1])]), 'RS256'),
      401,
      'signature',
    ],
    ['RS256, one byte short', signature((good) => good.subarray(1), 'RS256'), 401, 'signature'],
    [
      'RS256, a zero before it',
      signature((good) => Buffer.concat([Buffer.alloc(1), good]), 'RS256'),
      401,
      'signature',
    ],
    [
      'RS256, one bit turned',
      signature((good) => good.with(9, (good[9] ?? 0) ^ 1), 'RS256'),
      401,
      'signature',
    ],
    [
      'RS256, a hash in place of it',
      spoilt(
        (parts) =>
          `${parts.header}.${parts.payload}.${createHash('sha256').update(`${parts.header}.${parts.payload}`).digest('base64url')}`,
      ),
      401,
      'signature',
    ],
    [
      'a changed claim',
      spoilt((parts) => `${parts.header}.${json({ sub: 'root', iss: main.url })}.${parts.signature}`),
      401,
      'signature',
    ],
    [
      'the signature of another token',
      async () =>
        `${(await main.sign({ a: 1 })).replace(/[^.]+$/, '')}${partsOf(await main.sign({ a: 2 })).signature}`,
      401,
      'signature',
    ],

    // Keys that the token brings along (RFC 8725 §3.10, JWT-3).
    ['a key of its own', attacker({}), 401, 'signature'],
    ['a key of its own in jwk', attacker({ jwk: offeredJwk }), 401, 'signature'],
    ['a key of its own in jwk and no kid', attacker({ jwk: offeredJwk, kid: undefined }), 401, 'signature'],
    ['a key of its own behind jku', attacker({ jku: 'http://127.0.0.1:1/keys' }), 401, 'signature'],
    [
      'a key of its own behind jku, under another kid',
      attacker({ jku: 'http://127.0.0.1:1/keys', kid: 'mine' }),
      401,
      'key_unknown',
    ],
    ['a key of its own behind x5u', attacker({ x5u: 'http://127.0.0.1:1/cert' }), 401, 'signature'],
    ['a key of its own in x5c', attacker({ x5c: ['MIIB'] }), 401, 'signature'],
    [
      'good, with keys offered that nobody looks at',
      header({ jwk: offeredJwk, jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/', x5c: ['MIIB'] }),
      200,
      PASS,
    ],

    // kid: a name in a map and nothing else.
    ['kid unknown', header({ kid: 'rs256-9' }), 401, 'key_unknown'],
    ['kid empty', header({ kid: '' }), 401, 'key_unknown'],
    ['kid a path', header({ kid: '../../../../dev/null' }), 401, 'key_unknown'],
    ['kid SQL', header({ kid: "x' UNION SELECT 'key';--" }), 401, 'key_unknown'],
    ['kid a command', header({ kid: '|sleep 10' }), 401, 'key_unknown'],
    ['kid a URL', header({ kid: 'http://127.0.0.1:1/key' }), 401, 'key_unknown'],
    ['kid __proto__', header({ kid: '__proto__' }), 401, 'key_unknown'],
    ['kid constructor', header({ kid: 'constructor' }), 401, 'key_unknown'],
    ['kid in other case', header({ kid: 'RS256-1' }), 401, 'key_unknown'],
    ['kid with a NUL behind', header({ kid: 'rs256-1\u0000' }), 401, 'key_unknown'],
    ['kid of 256 characters', header({ kid: 'k'.repeat(256) }), 401, 'key_unknown'],
    ['kid of 257 characters', header({ kid: 'k'.repeat(257) }), 401, 'malformed'],
    ['kid a number', header({ kid: 1 }), 401, 'malformed'],
    ['kid null', header({ kid: null }), 401, 'malformed'],
    ['kid a list', header({ kid: ['rs256-1'] }), 401, 'malformed'],

    // Several issuers on one API.
    ['both: of the first', claims({}), 200, PASS, 'both'],
    ['both: of the second', () => partner.sign(), 200, PASS, 'both'],
    [
      'both: iss of the second, keys of the first',
      () => main.sign({ iss: partner.url }),
      401,
      'key_unknown',
      'both',
    ],
    [
      'both: iss of the first, keys and kid of the second',
      () => partner.sign({ iss: main.url }),
      401,
      'key_unknown',
      'both',
    ],
    [
      'both: iss of the second, kid of the second, key of the first',
      () => main.sign({ iss: partner.url }, { kid: 'rs256-2' }),
      401,
      'signature',
      'both',
    ],
    [
      'both: iss of the first, no kid, key of the second',
      () => partner.sign({ iss: main.url }, { kid: undefined }),
      401,
      'signature',
      'both',
    ],
    ['both: iss of neither', claims({ iss: 'https://evil.example' }), 401, 'issuer', 'both'],
    ['both: no iss', claims({ iss: undefined }), 401, 'issuer', 'both'],
    ['both: both as iss', () => main.sign({ iss: [main.url, partner.url] }), 401, 'issuer', 'both'],
    ['both: no JWT', () => 'opaque', 401, 'malformed', 'both'],
    ['one: a token of the other', () => partner.sign(), 401, 'key_unknown'],
    ['one: a token of the other without kid', () => partner.sign({}, { kid: undefined }), 401, 'signature'],

    // Where no key can be had it is our trouble, but what needs no key for its refusal is refused.
    ['away: any token', claims({}), 503, 'identity_unavailable', 'away'],
    ['away: an expired token', claims({ exp: T - 60, iat: T - 120 }), 503, 'identity_unavailable', 'away'],
    ['away: alg none', unsigned('none', 'AA'), 401, 'algorithms', 'away'],
    ['away: no token', () => 'x', 401, 'malformed', 'away'],

    // Header.
    ['typ missing', header({ typ: undefined }), 401, 'types'],
    ['typ JWT, which is not among the types', header({ typ: 'JWT' }), 401, 'types'],
    ['typ with its media type', header({ typ: 'application/at+jwt' }), 200, PASS],
    ['typ in upper case', header({ typ: 'AT+JWT' }), 200, PASS],
    ['typ with a parameter', header({ typ: 'at+jwt;v=1' }), 401, 'types'],
    ['typ with a space', header({ typ: 'at+jwt ' }), 401, 'types'],
    ['typ empty', header({ typ: '' }), 401, 'types'],
    ['typ a number', header({ typ: 1 }), 401, 'malformed'],
    ['typ a list', header({ typ: ['at+jwt'] }), 401, 'malformed'],
    ['typ logout+jwt', header({ typ: 'logout+jwt' }), 401, 'types'],
    ['typ secevent+jwt', header({ typ: 'secevent+jwt' }), 401, 'types'],
    ['typ token-introspection+jwt', header({ typ: 'token-introspection+jwt' }), 401, 'types'],
    ['crit of what nobody knows', header({ crit: ['x'], x: 1 }), 401, 'malformed'],
    ['crit empty', header({ crit: [] }), 401, 'malformed'],
    ['crit of what is known', header({ crit: ['alg'] }), 401, 'malformed'],
    ['crit null', header({ crit: null }), 401, 'malformed'],
    ['b64 false', header({ b64: false }), 401, 'malformed'],
    ['b64 false and critical', header({ b64: false, crit: ['b64'] }), 401, 'malformed'],
    ['b64 true and critical', header({ b64: true, crit: ['b64'] }), 401, 'malformed'],
    ['alg twice', headerText(',"alg":"RS256"'), 401, 'malformed'],
    ['kid twice', headerText(',"kid":"rs256-9"'), 401, 'malformed'],
    ['alg twice, behind an escape', headerText(',"\\u0061lg":"none"'), 401, 'malformed'],
    ['a member __proto__', headerText(',"__proto__":{"alg":"none"}'), 200, PASS],
    [
      'a byte order mark before the header',
      () => main.sign({}, '\uFEFF{"alg":"RS256","typ":"at+jwt"}'),
      401,
      'malformed',
    ],
    ['a header that is a list', () => main.sign({}, '["RS256"]'), 401, 'malformed'],
    ['a header that is null', () => main.sign({}, 'null'), 401, 'malformed'],
    ['a header with a comma too many', headerText(','), 401, 'malformed'],
    [
      'a header that is not UTF-8',
      spoilt(
        (parts) =>
          `${base64url(Buffer.from('{"alg":"RS256\xff"}', 'latin1'))}.${parts.payload}.${parts.signature}`,
      ),
      401,
      'malformed',
    ],
    [
      'a header in UTF-16',
      spoilt(
        (parts) =>
          `${base64url(Buffer.from('{"alg":"RS256"}', 'utf16le'))}.${parts.payload}.${parts.signature}`,
      ),
      401,
      'malformed',
    ],

    // Other kinds of JWT (JWT-5), and tokens bound to a key (JWT-6).
    ['a nested JWT', async () => main.sign(await main.sign(), headerWith(',"cty":"JWT"')), 401, 'malformed'],
    ['an ID token', claims({ nonce: 'n', aud: 'acme' }, { typ: 'JWT' }), 401, 'types'],
    ['an ID token for our audience and of our type', claims({ nonce: 'n-0S6_WzA2Mj' }), 401, 'claims'],
    ['at_hash', claims({ at_hash: 'MTIzNDU2Nzg5MDEyMzQ1Ng' }), 401, 'claims'],
    ['c_hash', claims({ c_hash: 'x' }), 401, 'claims'],
    ['s_hash', claims({ s_hash: 'x' }), 401, 'claims'],
    [
      'a logout token',
      claims({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }),
      401,
      'claims',
    ],
    [
      'a DPoP proof',
      attacker(
        { typ: 'dpop+jwt', jwk: offeredJwk, kid: undefined },
        { htm: 'GET', htu: 'https://api.example.com/' },
      ),
      401,
      'signature',
    ],
    [
      'a DPoP proof, signed by the issuer',
      claims({ htm: 'GET', htu: 'https://api.example.com/' }, { typ: 'dpop+jwt' }),
      401,
      'types',
    ],
    [
      'a client assertion',
      claims({ iss: 'acme', aud: 'https://auth.example.com/token' }, { typ: 'client-authentication+jwt' }),
      401,
      'types',
    ],
    ['cnf with jkt', claims({ cnf: { jkt: 'thumbprint' } }), 401, 'claims'],
    ['cnf with x5t#S256', claims({ cnf: { 'x5t#S256': 'thumbprint' } }), 401, 'claims'],
    ['cnf empty', claims({ cnf: {} }), 401, 'claims'],
    ['cnf null', claims({ cnf: null }), 401, 'claims'],
    ['cnf false', claims({ cnf: false }), 401, 'claims'],

    // iss and aud.
    ['iss with a slash behind', () => main.sign({ iss: `${main.url}/` }), 401, 'issuer'],
    ['iss without its last character', () => main.sign({ iss: main.url.slice(0, -1) }), 401, 'issuer'],
    ['iss in upper case', () => main.sign({ iss: main.url.toUpperCase() }), 401, 'issuer'],
    ['iss with a space', () => main.sign({ iss: ` ${main.url}` }), 401, 'issuer'],
    ['iss in a list', () => main.sign({ iss: [main.url] }), 401, 'issuer'],
    ['iss missing', claims({ iss: undefined }), 401, 'issuer'],
    ['iss null', claims({ iss: null }), 401, 'issuer'],
    ['iss empty', claims({ iss: '' }), 401, 'issuer'],
    ['iss an object', claims({ iss: {} }), 401, 'issuer'],
    ['aud with ours among others', claims({ aud: ['billing', 'sundial-samples'] }), 200, PASS],
    ['aud of others', claims({ aud: ['billing', 'reports'] }), 401, 'audience'],
    ['aud that begins like ours', claims({ aud: 'sundial-samples-2' }), 401, 'audience'],
    ['aud that ours begins with', claims({ aud: 'sundial' }), 401, 'audience'],
    ['aud in other case', claims({ aud: 'Sundial-Samples' }), 401, 'audience'],
    ['aud missing', claims({ aud: undefined }), 401, 'audience'],
    ['aud null', claims({ aud: null }), 401, 'audience'],
    ['aud an empty list', claims({ aud: [] }), 401, 'audience'],
    ['aud a list in a list', claims({ aud: [['sundial-samples']] }), 401, 'audience'],
    ['aud an object', claims({ aud: { 'sundial-samples': 1 } }), 401, 'audience'],
    ['aud a number', claims({ aud: 1 }), 401, 'audience'],
    ['aud with a space before another', claims({ aud: 'sundial-samples billing' }), 401, 'audience'],

    // Time (JWT-2): the leeway is 30 seconds, and its edge is outside.
    ['exp 29 s ago', claims({ iat: T - 600, exp: T - 29 }), 200, PASS],
    ['exp 30 s ago', claims({ iat: T - 600, exp: T - 30 }), 401, 'expired'],
    ['exp in 1970', claims({ exp: 0 }), 401, 'expired'],
    ['exp negative', claims({ exp: -1 }), 401, 'expired'],
    ['exp with a fraction', claims({ exp: T + 600.5 }), 200, PASS],
    ['exp as text', claims({ exp: `${T + 600}` }), 401, 'claims'],
    ['exp as a list', claims({ exp: [T + 600] }), 401, 'claims'],
    ['exp true', claims({ exp: true }), 401, 'claims'],
    ['exp null', claims({ exp: null }), 401, 'claims'],
    ['exp missing', claims({ exp: undefined }), 401, 'claims'],
    ['exp in milliseconds', claims({ exp: (T + 600) * 1000 }), 401, 'max_lifetime'],
    ['exp too large for a number', bareClaims(`"iat":${T},"exp":1e999`), 401, 'max_lifetime'],
    ['exp NaN', bareClaims(`"iat":${T},"exp":NaN`), 401, 'malformed'],
    ['exp with a leading zero', bareClaims(`"iat":${T},"exp":0${T + 60}`), 401, 'malformed'],
    ['exp before iat', claims({ iat: T + 20, exp: T + 10 }), 401, 'max_lifetime'],
    ['a life of an hour and the leeway', claims({ exp: T + 3630 }), 200, PASS],
    ['a life of a second more', claims({ exp: T + 3631 }), 401, 'max_lifetime'],
    ['a year', claims({ exp: T + 31_536_000 }), 401, 'max_lifetime'],
    ['issued two hours ago, still good', claims({ iat: T - 7200, exp: T + 60 }), 401, 'max_lifetime'],
    ['nbf within the leeway', claims({ nbf: T + 30 }), 200, PASS],
    ['nbf beyond it', claims({ nbf: T + 31 }), 401, 'not_yet'],
    ['nbf as text', claims({ nbf: '0' }), 401, 'claims'],
    ['nbf null', claims({ nbf: null }), 401, 'claims'],
    ['iat within the leeway', claims({ iat: T + 30, exp: T + 600 }), 200, PASS],
    ['iat beyond it', claims({ iat: T + 31, exp: T + 600 }), 401, 'not_yet'],
    ['iat as text', claims({ iat: `${T}` }), 401, 'claims'],
    ['iat missing', claims({ iat: undefined }), 401, 'claims'],
    ['iat null', claims({ iat: null }), 401, 'claims'],
    ['iat negative', claims({ iat: -1 }), 401, 'max_lifetime'],

    // Who it is.
    ['sub missing', claims({ sub: undefined }), 401, 'claims'],
    ['sub empty', claims({ sub: '' }), 401, 'claims'],
    ['sub a number', claims({ sub: 7 }), 401, 'claims'],
    ['sub null', claims({ sub: null }), 401, 'claims'],
    ['sub an object', claims({ sub: { id: 'acme' } }), 401, 'claims'],
    ['client_id missing, azp there', claims({ client_id: undefined, azp: 'globex' }), 200, 'forward globex'],
    ['client_id null, azp there', claims({ client_id: null, azp: 'globex' }), 401, 'consumer'],
    ['client_id empty', claims({ client_id: '' }), 401, 'consumer'],
    ['client_id a number', claims({ client_id: 7 }), 401, 'consumer'],
    ['client_id a list', claims({ client_id: ['acme'] }), 401, 'consumer'],
    ['client_id with a line end', claims({ client_id: 'acme\nX-Admin: 1' }), 401, 'consumer'],
    ['client_id with a NUL', claims({ client_id: 'acme\u0000' }), 401, 'consumer'],
    ['client_id written right to left', claims({ client_id: '\u202Eemca' }), 401, 'consumer'],
    ['client_id with a space of no width', claims({ client_id: 'ac\u200Bme' }), 401, 'consumer'],
    ['client_id with half a pair', claims({ client_id: 'acme\uD800' }), 401, 'consumer'],
    ['client_id of 257 characters', claims({ client_id: 'a'.repeat(257) }), 401, 'consumer'],
    ['client_id in other scripts', claims({ client_id: 'Ärzte-日本' }), 200, 'forward Ärzte-日本'],
    ['client_id __proto__', claims({ client_id: '__proto__' }), 200, 'forward __proto__'],
    ['a claim __proto__ with another client_id', claimsText(',"__proto__":{"client_id":"root"}'), 200, PASS],
    ['a claim twice', claimsText(',"client_id":"root"'), 401, 'claims'],
    ['a claim twice, behind an escape', claimsText(',"client\\u005fid":"root"'), 401, 'claims'],
    ['a claim twice, of no interest to us', claimsText(',"x":1,"x":2'), 401, 'claims'],
    ['a claim whose text looks like a second one', claims({ note: '","client_id":"root' }), 200, PASS],

    // Payload.
    ['a payload that is a list', () => main.sign('[]'), 401, 'malformed'],
    ['a payload that is text', () => main.sign('"acme"'), 401, 'malformed'],
    ['a payload that is null', () => main.sign('null'), 401, 'malformed'],
    ['a payload cut short', () => main.sign('{"iss":'), 401, 'malformed'],
    ['a payload with something behind it', claimsText('}{'), 401, 'malformed'],
    [
      'a byte order mark before the payload',
      async () => main.sign(`\uFEFF${await unsignedClaims(1)}`),
      401,
      'claims',
    ],
    ['claims nested a thousand deep', claimsText(`,"x":${'['.repeat(1000)}${']'.repeat(1000)}`), 200, PASS],

    // Scopes (JWT-7): known, but not for this.
    ['scope missing', claims({ scope: undefined }), 403, 'scope_insufficient'],
    ['scope empty', claims({ scope: '' }), 403, 'scope_insufficient'],
    ['scope as a list', claims({ scope: ['orders:read'] }), 403, 'scope_insufficient'],
    ['scope an object', claims({ scope: { 'orders:read': true } }), 403, 'scope_insufficient'],
    ['scope a number', claims({ scope: 1 }), 403, 'scope_insufficient'],
    ['scope that begins like ours', claims({ scope: 'orders:readonly' }), 403, 'scope_insufficient'],
    ['scope that ours begins with', claims({ scope: 'orders' }), 403, 'scope_insufficient'],
    ['scope in other case', claims({ scope: 'Orders:Read' }), 403, 'scope_insufficient'],
    ['scope behind a comma', claims({ scope: 'x,orders:read' }), 403, 'scope_insufficient'],
    ['scope behind a tab', claims({ scope: 'x\torders:read' }), 403, 'scope_insufficient'],
    ['scope with a NUL', claims({ scope: 'orders:read\u0000' }), 403, 'scope_insufficient'],
    ['scope in scp', claims({ scope: undefined, scp: ['orders:read'] }), 403, 'scope_insufficient'],
    ['scope among others, with spaces about it', claims({ scope: '  x orders:read  ' }), 200, PASS],

    // Shape: one compact JWS of canonical base64url, or nothing.
    ['a word', () => 'hello', 401, 'malformed'],
    ['one dot', () => '.', 401, 'malformed'],
    ['two dots', () => '..', 401, 'malformed'],
    ['three parts of nothing', () => 'e30.e30.', 401, 'malformed'],
    ['an empty header', spoilt((parts) => `.${parts.payload}.${parts.signature}`), 401, 'malformed'],
    ['an empty payload', spoilt((parts) => `${parts.header}..${parts.signature}`), 401, 'malformed'],
    ['an empty signature', spoilt((parts) => `${parts.header}.${parts.payload}.`), 401, 'malformed'],
    ['two parts', spoilt((parts) => `${parts.header}.${parts.payload}`), 401, 'malformed'],
    ['a dot behind', spoilt((_, token) => `${token}.`), 401, 'malformed'],
    ['a dot before', spoilt((_, token) => `.${token}`), 401, 'malformed'],
    ['four parts', spoilt((_, token) => `${token}.AA`), 401, 'malformed'],
    ['five parts, as JWE has', spoilt((_, token) => `${token}.AA.AA`), 401, 'malformed'],
    [
      'a JWE by its header',
      () => `${json({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.AA.AA.AA.AA`,
      401,
      'malformed',
    ],
    [
      'enc in three parts',
      () => `${json({ alg: 'dir', enc: 'A256GCM', typ: 'at+jwt' })}.AA.AA`,
      401,
      'algorithms',
    ],
    ['padding at the end', spoilt((_, token) => `${token}==`), 401, 'malformed'],
    [
      'a + in it',
      spoilt((parts) => `${parts.header}.${parts.payload}.+${parts.signature.slice(1)}`),
      401,
      'malformed',
    ],
    [
      'a / in it',
      spoilt((parts) => `${parts.header}.${parts.payload}./${parts.signature.slice(1)}`),
      401,
      'malformed',
    ],
    [
      'a ~ in it',
      spoilt((parts) => `${parts.header}.${parts.payload}.~${parts.signature.slice(1)}`),
      401,
      'malformed',
    ],
    [
      'a part of impossible length',
      spoilt((parts) => `${parts.header}.${parts.payload}.AAAAA`),
      401,
      'malformed',
    ],
    [
      'a signature spelt otherwise',
      spoilt((parts) => `${parts.header}.${parts.payload}.${respelt(parts.signature)}`),
      401,
      'malformed',
    ],
    ['JSON serialization in base64url', spoilt((parts) => json(parts)), 401, 'malformed'],
    ['a token in base64url once more', spoilt((_, token) => base64url(token)), 401, 'malformed'],
    ['of 8191 characters', ofLength(8191), 200, PASS],
    ['of 8192 characters', ofLength(8192), 200, PASS],
    ['of 8193 characters', ofLength(8193), 401, 'token_invalid'],
  ];

/** Of a request, with the good token put in for TOKEN. */
type Shape = Partial<RequestView>;
const line = (authorization: string | readonly string[]): Shape => ({ headers: { authorization } });

const SHAPES: readonly (readonly [name: string, request: Shape, status: number, says: string])[] = [
  ['no line', {}, 401, 'credentials_missing'],
  ['an empty line', line(''), 401, 'credentials_missing'],
  ['Basic', line('Basic dTpw'), 401, 'credentials_missing'],
  ['Digest', line('Digest username="a"'), 401, 'credentials_missing'],
  ['DPoP', line('DPoP TOKEN'), 401, 'credentials_missing'],
  ['the scheme Token', line('Token TOKEN'), 401, 'credentials_missing'],
  ['the token alone', line('TOKEN'), 401, 'credentials_missing'],
  ['no space', line('BearerTOKEN'), 401, 'credentials_missing'],
  ['a hyphen in the scheme', line('Bearer-Token TOKEN'), 401, 'credentials_missing'],
  ['lower case', line('bearer TOKEN'), 200, PASS],
  ['upper case', line('BEARER TOKEN'), 200, PASS],
  ['two spaces', line('Bearer  TOKEN'), 200, PASS],
  ['one line in a list', line(['Bearer TOKEN']), 200, PASS],
  ['Bearer alone', line('Bearer'), 400, 'credentials_malformed'],
  ['Bearer and a space', line('Bearer '), 400, 'credentials_malformed'],
  ['a tab', line('Bearer\tTOKEN'), 400, 'credentials_malformed'],
  ['a space and a tab', line('Bearer \tTOKEN'), 400, 'credentials_malformed'],
  ['a colon', line('Bearer: TOKEN'), 400, 'credentials_malformed'],
  ['an equals sign', line('Bearer=TOKEN'), 400, 'credentials_malformed'],
  ['something behind it', line('Bearer TOKEN x'), 400, 'credentials_malformed'],
  ['a space behind it', line('Bearer TOKEN '), 400, 'credentials_malformed'],
  ['a comma behind it', line('Bearer TOKEN,'), 400, 'credentials_malformed'],
  ['two tokens', line('Bearer TOKEN TOKEN'), 400, 'credentials_malformed'],
  ['two, joined by a comma', line('Bearer TOKEN, Bearer TOKEN'), 400, 'credentials_malformed'],
  ['two schemes, joined by a comma', line('Bearer TOKEN, Basic dTpw'), 400, 'credentials_malformed'],
  ['two lines', line(['Bearer TOKEN', 'Bearer TOKEN']), 400, 'credentials_malformed'],
  [
    'two lines, the first of another scheme',
    line(['Basic dTpw', 'Bearer TOKEN']),
    400,
    'credentials_malformed',
  ],
  ['quotes', line('Bearer "TOKEN"'), 400, 'credentials_malformed'],
  ['a parameter', line('Bearer token=TOKEN'), 400, 'credentials_malformed'],
  ['padding before its end', line('Bearer a=.TOKEN'), 400, 'credentials_malformed'],
  ['JSON', line('Bearer {"payload":"x"}'), 400, 'credentials_malformed'],
  ['a line end', line('Bearer TOKEN\n'), 400, 'credentials_malformed'],
  ['a space of no width', line('Bearer TOKEN\u200b'), 400, 'credentials_malformed'],
  ['a letter beyond ASCII', line('Bearer TOK\u00e9N'), 400, 'credentials_malformed'],
  ['in the query', { search: '?access_token=TOKEN' }, 400, 'credentials_in_url'],
  ['in the query too', { ...line('Bearer TOKEN'), search: '?access_token=TOKEN' }, 400, 'credentials_in_url'],
  ['in the query, escaped', { search: '?%61ccess_token=TOKEN' }, 400, 'credentials_in_url'],
  ['in a cookie', { headers: { cookie: 'access_token=TOKEN' } }, 401, 'credentials_missing'],
  ['in another field', { headers: { 'x-access-token': 'TOKEN' } }, 401, 'credentials_missing'],
  [
    'in Proxy-Authorization',
    { headers: { 'proxy-authorization': 'Bearer TOKEN' } },
    401,
    'credentials_missing',
  ],
];

describe('JWT-1 … JWT-8: a token', () => {
  const rows = TOKENS.map(([name, make, status, says, asked = 'main']) => ({
    name,
    make,
    status,
    says,
    asked,
  }));
  it.each(rows)('$name: $status $says', async ({ make, status, says, asked }) => {
    expect(await judge(line(`Bearer ${await make()}`), asked)).toEqual([status, says]);
  });
});

it('JWT-1: a token with any one character changed, left out or put in between is 401', async () => {
  const tokens = [await main.sign(), await main.sign({}, { alg: 'ES256' })];
  const edit = fc.record({
    token: fc.constantFrom(...tokens),
    at: fc.nat(),
    taken: fc.nat(1),
    put: fc.constantFrom('', ...`${ALPHABET}.`),
  });
  await fc.assert(
    fc.asyncProperty(edit, async ({ token, at, taken, put }) => {
      const from = at % token.length;
      const changed = token.slice(0, from) + put + token.slice(from + taken);
      fc.pre(changed !== token);
      expect((await judge(line(`Bearer ${changed}`), 'main'))[0]).toBe(401);
    }),
    { numRuns: 300 },
  );
});

describe('AUTH-1: a request with its token', () => {
  it.each(SHAPES)('%s', async (_name, request, status, says) => {
    const token = await main.sign();
    const filled: Shape = JSON.parse(JSON.stringify(request).replaceAll('TOKEN', token));
    expect(await judge(filled, 'main')).toEqual([status, says]);
  });
});

it('promise 30: there are more than two hundred of them', () => {
  expect(new Set([...TOKENS, ...SHAPES].map(([name]) => name)).size).toBe(TOKENS.length + SHAPES.length);
  expect(TOKENS.length + SHAPES.length).toBeGreaterThan(200);
});
