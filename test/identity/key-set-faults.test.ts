// Every fault of an issuer's key set, before and after the first fetch.
import { createServer as createTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTokenVerifier } from '../../gateway/identity/authenticators.ts';
import type { KeyFetch } from '../../gateway/identity/key-set.ts';
import type { IdentityVerifier } from '../../gateway/identity/token-cache.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { makeKeyPair } from '../support/key-pairs.ts';
import { freePorts } from '../support/ports.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const START = Date.parse('2026-11-21T08:00:00Z');

type Answer = Parameters<TestIssuer['answerWith']>[0];
type Jwk = Readonly<Record<string, unknown>>;
type Kind = 'consumer' | 'refused' | 'unavailable';

const stack = new AsyncDisposableStack();
const clock = { now: START };
/** Signs with the old key, and serves the key sets of the tests. */
let issuer: TestIssuer;
/** Signs with the new key. */
let successor: TestIssuer;
let old: Jwk;
let fresh: Jwk;
let untrusted = '';
let closedUrl = '';
let tokens: { readonly old: string; readonly fresh: string };
const open: IdentityVerifier[] = [];

beforeAll(async () => {
  const start = async () =>
    stack.adopt(await startTestIssuer({ now: () => clock.now }), (service) => service.close());
  issuer = await start();
  successor = await start();
  old = { ...issuer.publicKeys()[0], kid: 'old' };
  fresh = { ...successor.publicKeys()[0], kid: 'fresh' };
  tokens = {
    old: await issuer.sign({}, { kid: 'old' }),
    fresh: await successor.sign({ iss: issuer.url }, { kid: 'fresh' }),
  };
  closedUrl = `http://127.0.0.1:${(await freePorts(1))[0]}/keys`;
  const pair = await makeKeyPair({ names: ['127.0.0.1'] });
  const secure = createTls({ cert: pair.cert, key: pair.key }, (_, response) => response.end(setOf([old])));
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
  stack.defer(() => void secure.close());
  untrusted = `https://127.0.0.1:${(secure.address() as AddressInfo).port}/keys`;
});
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  clock.now = START;
});
afterEach(() => {
  for (const verifier of open.splice(0)) verifier.close();
});

const setOf = (keys: readonly unknown[]) => JSON.stringify({ keys });
const serves =
  (keys: () => readonly unknown[], type = 'application/jwk-set+json'): Answer =>
  (_, response) =>
    response.writeHead(200, { 'content-type': type }).end(setOf(keys()));
const status =
  (code: number, fields = {}): Answer =>
  (_, response) =>
    response.writeHead(code, fields).end(code === 204 || code === 304 ? undefined : setOf([old]));
const text =
  (body: string | (() => string)): Answer =>
  (_, response) =>
    response.end(typeof body === 'string' ? body : body());
/** Redirects away from the issuer. */
const elsewhere =
  (url: () => string): typeof fetch =>
  (_, init) =>
    fetch(url(), init);

function openVerifier(fetcher: typeof fetch = fetch, timeout = MINUTE) {
  const reported: KeyFetch[] = [];
  let fetches = 0;
  let through = fetcher;
  const verifier = createTokenVerifier(issuer.settings, {
    now: () => clock.now,
    timeout,
    report: (fetched) => reported.push(fetched),
    fetch: (...request) => {
      fetches += 1;
      return through(...request);
    },
  });
  open.push(verifier);
  return {
    verifier,
    reported,
    fetches: () => fetches,
    goThrough: (other: typeof fetch) => {
      through = other;
    },
    kindOf: async (token: string) => (await verifier.verify(token)).kind,
  };
}

const BOMB = gzipSync(Buffer.alloc(16 * 1024 * 1024, ' '));

/** Faults of an issuer: its keys stay valid for a day. `through`: the URL of the issuer during the fault. */
type Fault = readonly [name: string, answer: Answer, reason: RegExp, through?: () => string];
const FAULTS: readonly Fault[] = [
  ['down', (request) => request.socket.destroy(), /./],
  ['refusing connections', text(''), /ECONNREFUSED/, () => closedUrl],
  ['of an unknown host', text(''), /ENOTFOUND|EAI_AGAIN/, () => 'http://nowhere.invalid/keys'],
  ['not trusted over TLS', text(''), /self-signed/, () => untrusted],
  ['unresponsive', () => undefined, /timeout/],
  ['slow, byte by byte', (request, response) => drip(request, response), /timeout/],
  ['endless after a valid beginning', (_, response) => void response.write('{"keys":['), /timeout/],
  ['larger than 256 KiB', text(() => `${setOf([old])}${' '.repeat(256 * 1024)}`), /larger/],
  [
    'a gzip bomb',
    (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB),
    /larger/,
  ],
  ['invalid gzip', (_, r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end(setOf([old])), /./],
  ['moved permanently (301)', status(301, { location: '/keys' }), /redirect/],
  ['moved temporarily (302) to another host', status(302, { location: 'http://127.0.0.1:9/' }), /redirect/],
  ['204 without content', status(204), /status 204/],
  ['an unexpected 304', status(304), /status 304/],
  ['401', status(401), /status 401/],
  ['404 with a set', status(404), /status 404/],
  ['500 with a set', status(500), /status 500/],
  ['503', status(503, { 'retry-after': '1' }), /status 503/],
  ['a page with status 200', text('<!doctype html><title>Maintenance</title>'), /JSON/],
  ['an empty response', text(''), /JSON/],
  ['a truncated set', text(() => setOf([old]).slice(0, -20)), /JSON/],
  [
    'shorter than its length',
    (_, response) => {
      response.writeHead(200, { 'content-length': '9999' }).write(setOf([old]));
      response.socket?.end();
    },
    /./,
  ],
  ['not UTF-8', (_, response) => response.end(Buffer.from('{"keys":[],"x":"\xff"}', 'latin1')), /./],
  ['a list', text('[]'), /not a JWK set/],
  ['null', text('null'), /not a JWK set/],
  ['without keys', text('{"issuer":"x"}'), /not a JWK set/],
  ['keys as an object', text(() => `{"keys":${JSON.stringify(old)}}`), /not a JWK set/],
];

/** Sends one byte at a time until the other side closes the connection. */
function drip(...[, response]: Parameters<Answer>): void {
  response.write('{');
  const timer = setInterval(() => response.write(' '), 10);
  response.on('close', () => clearInterval(timer));
}

describe('an issuer that is', () => {
  const rows = FAULTS.map(([name, answer, reason, through]) => {
    const timeout = reason.source === 'timeout' ? 400 : undefined;
    return { name, answer, reason, through, timeout };
  });
  it.each(rows)(
    '$name: known keys keep working, and a new key works after the cooldown',
    async ({ answer, reason, through, timeout }) => {
      const { verifier, reported, fetches, kindOf, goThrough } = openVerifier(fetch, timeout);
      issuer.answerWith(serves(() => [old]));
      await verifier.warm();
      issuer.answerWith(answer);
      if (through !== undefined) goThrough(elsewhere(through));
      clock.now += 10 * MINUTE;
      await verifier.warm();
      expect(reported).toEqual([
        { kind: 'fetched', keys: 1 },
        { kind: 'failed', reason: expect.stringMatching(reason) },
      ]);
      expect(await kindOf(tokens.old)).toBe('consumer');
      expect(await kindOf(tokens.fresh)).toBe('unavailable');
      expect(fetches()).toBe(2);

      issuer.answerWith(serves(() => [old, fresh]));
      goThrough(fetch);
      clock.now += 30 * SECOND;
      expect([await kindOf(tokens.fresh), await kindOf(tokens.old)]).toEqual(['consumer', 'consumer']);
      expect(fetches()).toBe(3);
    },
  );

  it.each(rows)(
    'JWT-4: $name from the start: a token is unavailable, not refused, until the keys are fetched',
    async ({ answer, through, timeout }) => {
      issuer.answerWith(answer);
      const { kindOf, goThrough } = openVerifier(through === undefined ? fetch : elsewhere(through), timeout);
      expect(await kindOf(tokens.old)).toBe('unavailable');
      issuer.answerWith(serves(() => [old]));
      goThrough(fetch);
      clock.now += SECOND;
      expect(await kindOf(tokens.old)).toBe('consumer');
    },
  );
});

/** Sets that an issuer may intend, and the verdicts of a gateway that starts with them. */
const SETS: readonly (readonly [name: string, answer: Answer, oldToken: Kind, freshToken: Kind])[] = [
  ['both keys, rotating', serves(() => [old, fresh]), 'consumer', 'consumer'],
  ['both keys, the new one first', serves(() => [fresh, old]), 'consumer', 'consumer'],
  ['only the new key: the old key is revoked', serves(() => [fresh]), 'refused', 'consumer'],
  ['no key at all', serves(() => []), 'unavailable', 'unavailable'],
  ['of another media type', serves(() => [old], 'text/plain'), 'consumer', 'refused'],
  [
    'compressed',
    (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(setOf([old]))),
    'consumer',
    'refused',
  ],
  ['the same key twice', serves(() => [old, old]), 'consumer', 'refused'],
  [
    'two keys of one kid, the right one last',
    serves(() => [{ ...fresh, kid: 'old' }, old]),
    'consumer',
    'refused',
  ],
  ['a key without kid beside it', serves(() => [{ ...fresh, kid: undefined }, old]), 'consumer', 'refused'],
  ['the key without its kid', serves(() => [{ ...old, kid: undefined }]), 'refused', 'refused'],
  ['the key with a kid that is a number', serves(() => [{ ...old, kid: 1 }, fresh]), 'refused', 'consumer'],
  ['the kid of another algorithm', serves(() => [{ ...old, alg: 'PS256' }]), 'refused', 'refused'],
  [
    'the kid of another kind of key',
    serves(() => [{ ...issuer.publicKeys()[1], kid: 'old' }]),
    'refused',
    'refused',
  ],
  ['the key for encryption', serves(() => [{ ...old, use: 'enc' }, fresh]), 'refused', 'consumer'],
  ['a private key beside it', serves(() => [{ ...fresh, d: 'AQAB' }, old]), 'consumer', 'refused'],
  ['a private key alone', serves(() => [{ ...old, d: 'AQAB' }]), 'unavailable', 'unavailable'],
  [
    'a symmetric key of its kid beside it',
    serves(() => [{ kty: 'oct', k: 'c2VjcmV0', kid: 'old' }, old]),
    'consumer',
    'refused',
  ],
  [
    'a symmetric key alone',
    serves(() => [{ kty: 'oct', k: 'c2VjcmV0', kid: 'old' }]),
    'unavailable',
    'unavailable',
  ],
  ['a key for encryption alone', serves(() => [{ ...old, use: 'enc' }]), 'unavailable', 'unavailable'],
  [
    'an unknown kind of key beside it',
    serves(() => [{ kty: 'XYZ', kid: 'old' }, old]),
    'consumer',
    'refused',
  ],
  ['values that are not keys beside it', serves(() => [null, 7, 'key', [], {}, old]), 'consumer', 'refused'],
  [
    'a damaged key beside it',
    serves(() => [{ kty: 'EC', crv: 'P-256', x: '!', y: 1, kid: 'old' }, old]),
    'consumer',
    'refused',
  ],
  ['a weak key of its kid beside it', serves(() => [{ ...old, n: 'AQAB' }, old]), 'consumer', 'refused'],
  ['a weak key alone', serves(() => [{ ...old, n: 'AQAB' }]), 'unavailable', 'unavailable'],
  ['a damaged key alone', serves(() => [{ ...DAMAGED, kid: 'old' }]), 'unavailable', 'unavailable'],
  ['a point that is not on its curve alone', serves(() => [offCurve('old')]), 'unavailable', 'unavailable'],
  ['an unknown kind of key alone', serves(() => [{ kty: 'XYZ', kid: 'old' }]), 'unavailable', 'unavailable'],
  [
    'an unknown curve alone',
    serves(() => [{ ...DAMAGED, crv: 'P-999', kid: 'old' }]),
    'unavailable',
    'unavailable',
  ],
  ['a key for HS256', serves(() => [{ ...old, alg: 'HS256' }]), 'unavailable', 'unavailable'],
  [
    'a damaged key of the new kid beside it',
    serves(() => [{ ...DAMAGED, kid: 'fresh' }, old]),
    'consumer',
    'refused',
  ],
  [
    'the new key, and the old one damaged',
    serves(() => [{ ...DAMAGED, kid: 'old' }, fresh]),
    'refused',
    'consumer',
  ],
  [
    'a hundred keys',
    serves(() => [...Array.from({ length: 99 }, (_, kid) => ({ ...fresh, kid: `${kid}` })), old]),
    'consumer',
    'refused',
  ],
];

const DAMAGED = { kty: 'EC', crv: 'P-256', x: '!', y: 1 };
const offCurve = (kid: string) => {
  const { y: _, ...key } = issuer.publicKeys()[1] ?? {};
  return { ...key, y: key.x, kid };
};

describe('a set with', () => {
  it.each(SETS)('%s', async (_name, answer, oldToken, freshToken) => {
    const running = openVerifier();
    issuer.answerWith(serves(() => [old]));
    await running.verifier.warm();
    expect(await running.kindOf(tokens.old)).toBe('consumer');
    issuer.answerWith(answer);
    clock.now += 10 * MINUTE;
    await running.verifier.warm();
    const starting = openVerifier();
    expect([await starting.kindOf(tokens.old), await starting.kindOf(tokens.fresh)]).toEqual([
      oldToken,
      freshToken,
    ]);
    // A set without a usable key is reported as a fault, and the former keys stay.
    const keyless = oldToken === 'unavailable';
    const kinds = [await running.kindOf(tokens.old), await running.kindOf(tokens.fresh)];
    expect(kinds).toEqual([keyless ? 'consumer' : oldToken, freshToken]);
    expect(running.reported.map(({ kind }) => kind)).toEqual(['fetched', keyless ? 'failed' : 'fetched']);
  });

  it('no key at all is fetched again every second, and returning keys are used', async () => {
    issuer.answerWith(serves(() => []));
    const { kindOf, fetches } = openVerifier();
    for (let count = 0; count < 5; count += 1) expect(await kindOf(tokens.old)).toBe('unavailable');
    expect(fetches()).toBe(1);
    issuer.answerWith(serves(() => [old]));
    clock.now += SECOND;
    expect(await kindOf(tokens.old)).toBe('consumer');
  });
});
