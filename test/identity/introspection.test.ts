// Opaque tokens (RFC 7662): what is asked, which answers let a token pass, what is kept, and what a dead endpoint costs.
// A real endpoint over sockets, a clock the test moves.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createIntrospectionVerifier,
  type IntrospectionOptions,
} from '../../gateway/identity/introspection-verifier.ts';
import type { IdentityVerifier } from '../../gateway/identity/verifier.ts';
import type { IntrospectionIdentity } from '../../gateway/plan/settings.ts';

const SECOND = 1000;
const START = Date.parse('2026-11-21T08:00:00Z');
const SECRET = 'canary: pâss+word';

interface Asked {
  readonly method: string | undefined;
  readonly type: string | undefined;
  readonly authorization: string | undefined;
  readonly form: Readonly<Record<string, string>>;
}

let endpoint = '';
let asked: Asked[] = [];
let answer: (form: Asked['form'], response: ServerResponse, request: IncomingMessage) => unknown;
let now = START;
let told: (string | undefined)[] = [];
const open: IdentityVerifier[] = [];

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
    const { 'content-type': type, authorization } = request.headers;
    asked.push({ method: request.method, type, authorization, form });
    answer(form, response, request);
  });
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/introspect?tenant=1`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
  told = [];
  now = START;
  answer = says({});
});
afterEach(() => {
  for (const verifier of open.splice(0)) verifier.close();
});

const good = () => ({
  active: true,
  client_id: 'acme',
  scope: 'orders:read orders:write',
  iss: 'https://auth.example.com',
  aud: 'api',
  token_type: 'Bearer',
  exp: START / SECOND + 600,
});
/** The good answer with changes; undefined takes a member away. */
const says = (changes: Readonly<Record<string, unknown>>) => (_: unknown, response: ServerResponse) =>
  response.end(JSON.stringify({ ...good(), ...changes }));

function verifierOf(
  settings: Partial<IntrospectionIdentity> = {},
  options: Partial<IntrospectionOptions> = {},
): IdentityVerifier {
  const verifier = createIntrospectionVerifier(
    {
      kind: 'introspection',
      name: 'opaque',
      endpoint,
      client: { id: 'sun:dial', secret: SECRET },
      issuer: 'https://auth.example.com',
      audience: 'api',
      consumerClaims: ['client_id', 'azp', 'sub'],
      tokenCacheMs: 60 * SECOND,
      ...settings,
    },
    { now: () => now, report: (failure) => told.push(failure), ...options },
  );
  open.push(verifier);
  return verifier;
}

const kindOf = async (verifier: IdentityVerifier, token: string) => (await verifier.verify(token)).kind;

describe('the question', () => {
  it('is one POST of a form, by a client that shows its id and secret (RFC 6749 §2.3.1)', async () => {
    await verifierOf().verify('abc+/~.-_==');
    expect(asked).toEqual([
      {
        method: 'POST',
        type: 'application/x-www-form-urlencoded;charset=UTF-8',
        authorization: `Basic ${Buffer.from('sun%3Adial:canary%3A+p%C3%A2ss%2Bword').toString('base64')}`,
        form: { token: 'abc+/~.-_==', token_type_hint: 'access_token' },
      },
    ]);
  });

  it.each([
    'http://auth.example.com/introspect',
    'https://user:secret@auth.example.com/',
    'ftp://127.0.0.1/',
    'introspect',
  ])('is never sent to %s', (elsewhere) => {
    expect(() => verifierOf({ endpoint: elsewhere })).toThrow(TypeError);
  });

  it('is for what is no JWT, and for the JWTs of its issuer where one is set', () => {
    const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.AA`;
    const verifier = verifierOf();
    expect(['abc', 'a.b', 'a.b.c', jwt({})].map(verifier.claims)).toEqual([true, true, true, true]);
    expect(verifier.claims(jwt({ iss: 'https://auth.example.com' }))).toBe(true);
    expect(verifier.claims(jwt({ iss: 'https://auth.example.com/' }))).toBe(false);
    expect(verifierOf({ issuer: undefined }).claims(jwt({ iss: 'https://a.example' }))).toBe(false);
    expect(asked).toEqual([]);
  });
});

it('a connection that the endpoint has closed meanwhile costs nothing: the question is put again, once', async () => {
  const verifier = verifierOf();
  await verifier.verify('abc');
  server.closeIdleConnections();
  expect(await kindOf(verifier, 'abd')).toBe('consumer');
  asked = [];
  let hangUps = 0;
  answer = (_, response) => {
    hangUps += 1;
    response.destroy();
  };
  expect(await kindOf(verifier, 'abe')).toBe('unavailable');
  expect(hangUps).toBe(2);
});

describe('an answer', () => {
  it('that a token is active names the consumer, its scopes and all that is said of it', async () => {
    expect(await verifierOf().verify('abc')).toEqual({
      kind: 'consumer',
      consumer: {
        id: 'acme',
        named: true,
        via: 'token',
        scopes: new Set(['orders:read', 'orders:write']),
        claims: good(),
      },
    });
  });

  const AT = START / SECOND;
  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['active: false', { active: false }, 'inactive'],
    ['active: false and nothing else', { ...blank(), active: false }, 'inactive'],
    ['exp that passed a leeway ago', { exp: AT - 30 }, 'expired'],
    ['exp as text', { exp: `${AT + 600}` }, 'claims'],
    ['nbf beyond the leeway', { nbf: AT + 31 }, 'not_yet'],
    ['nbf as text', { nbf: '0' }, 'claims'],
    ['another issuer', { iss: 'https://auth.example.com/' }, 'issuer'],
    ['no issuer', { iss: undefined }, 'issuer'],
    ['another audience', { aud: 'api-2' }, 'audience'],
    ['audiences without ours', { aud: ['billing', 'api-2'] }, 'audience'],
    ['no audience', { aud: undefined }, 'audience'],
    ['an audience that is an object', { aud: { api: true } }, 'audience'],
    ['JWT-6: cnf', { cnf: { jkt: 'thumbprint' } }, 'binding'],
    ['JWT-6: token_type DPoP', { token_type: 'DPoP' }, 'types'],
    ['JWT-5: token_use of a refresh token', { token_use: 'refresh_token' }, 'types'],
    ['JWT-5: typ of a refresh token', { typ: 'Refresh' }, 'types'],
    ['JWT-5: typ of an ID token', { typ: 'ID' }, 'types'],
    ['no consumer', { client_id: undefined }, 'consumer'],
    ['a consumer that is a number', { client_id: 7 }, 'consumer'],
  ])('with %s refuses the token', async (_name, changes, flaw) => {
    answer = says(changes);
    expect(await verifierOf().verify('abc')).toEqual({
      kind: 'refused',
      refusal: {
        reason: 'token_invalid',
        description: flaw === 'expired' ? 'The access token expired' : 'The access token is not valid',
        flaw,
      },
    });
  });

  it.each<[string, Readonly<Record<string, unknown>>, Partial<IntrospectionIdentity>]>([
    ['audiences with ours', { aud: ['billing', 'api'] }, {}],
    [
      'any issuer and audience, where none is set',
      { iss: 1, aud: 2 },
      { issuer: undefined, audience: undefined },
    ],
    ['no exp', { exp: undefined }, {}],
    ['members that are null', { exp: null, nbf: null, cnf: null }, {}],
    ['exp that passed within the leeway', { exp: AT - 29 }, {}],
    ['nbf within the leeway', { nbf: AT + 30 }, {}],
    ['token_use and typ of an access token', { token_use: 'access_token', typ: 'at+JWT' }, {}],
    ['a member for the consumer of its own', { username: 'acme' }, { consumerClaims: ['username'] }],
  ])('with %s lets it pass', async (_name, changes, settings) => {
    answer = says(changes);
    expect(await kindOf(verifierOf(settings), 'abc')).toBe('consumer');
  });

  it('JWT-6: that binds the token to a certificate says which, for each request to be held against it', async () => {
    answer = says({ cnf: { 'x5t#S256': Buffer.alloc(32, 7).toString('base64url') } });
    expect(await verifierOf().verify('abc')).toMatchObject({ kind: 'consumer', boundTo: '07'.repeat(32) });
  });
});

/** Takes away what the good answer has. */
function blank() {
  return Object.fromEntries(Object.keys(good()).map((name) => [name, undefined]));
}

describe('what is kept', () => {
  it.each<[string, number, Partial<IntrospectionIdentity>, Readonly<Record<string, unknown>>]>([
    ['60 seconds', 60, {}, {}],
    ['60 seconds, without exp', 60, {}, { exp: undefined }],
    ['its own life, when that is shorter', 20, {}, { exp: START / SECOND + 20 }],
    ['token_cache', 5, { tokenCacheMs: 5 * SECOND }, {}],
    ['10 seconds, when it is not active', 10, {}, { active: false }],
    ['token_cache, when it is not active', 5, { tokenCacheMs: 5 * SECOND }, { active: false }],
  ])('is an answer for %s', async (_name, seconds, settings, changes) => {
    answer = says(changes);
    const verifier = verifierOf(settings);
    await verifier.verify('abc');
    now = START + seconds * SECOND - 1;
    expect(verifier.verify('abc')).not.toBeInstanceOf(Promise);
    now += 1;
    await verifier.verify('abc');
    expect(asked).toHaveLength(2);
  });

  it('is nothing where token_cache is off, though callers that ask at once share one question', async () => {
    const verifier = verifierOf({ tokenCacheMs: 0 });
    await Promise.all(Array.from({ length: 20 }, () => verifier.verify('abc')));
    expect(asked).toHaveLength(1);
    await verifier.verify('abc');
    expect(asked).toHaveLength(2);
  });

  it('is bound to the whole token', async () => {
    const verifier = verifierOf();
    await verifier.verify('abc');
    answer = says({ active: false });
    expect(await kindOf(verifier, 'abd')).toBe('refused');
    expect(await kindOf(verifier, 'abc')).toBe('consumer');
  });
});

describe('an endpoint that gives no answer', () => {
  it.each<[string, typeof answer, RegExp]>([
    [
      'does not know the gateway',
      (_, response) => response.writeHead(401).end('{"active":true}'),
      /status 401/,
    ],
    ['fails', (_, response) => response.writeHead(500).end('{"active":true}'), /status 500/],
    ['has moved', (_, response) => response.writeHead(307, { location: '/' }).end(), /redirect/],
    ['hangs up', (_, response) => response.destroy(), /./],
    ['answers with a page', (_, response) => response.end('<html>'), /JSON/],
    ['answers with a list', (_, response) => response.end('[{"active":true}]'), /whether it is active/],
    ['says active in text', says({ active: 'true' }), /whether it is active/],
    ['says nothing of active', says({ active: undefined }), /whether it is active/],
    [
      'is not UTF-8',
      (_, response) => response.end(Buffer.from('7b22616374697665223a747275652c2261223a22ff227d', 'hex')),
      /./,
    ],
    ['answers with 64 KiB and more', says({ note: ' '.repeat(64 * 1024) }), /larger/],
    ['is silent', () => undefined, /timeout/],
    ['never ends its answer', (_, response) => response.write('{'), /timeout/],
  ])(
    'because it %s: a token is unavailable and not refused, and nothing is kept',
    async (_name, fault, reason) => {
      answer = fault;
      const verifier = verifierOf({}, reason.source === 'timeout' ? { timeout: 400 } : {});
      expect(await kindOf(verifier, 'abc')).toBe('unavailable');
      expect(told).toEqual([expect.stringMatching(reason)]);
      expect(told.join()).not.toMatch(/canary|Basic/);
      answer = says({});
      expect(await kindOf(verifier, 'abc')).toBe('consumer');
      expect(told.at(-1)).toBeUndefined();
    },
  );

  it('costs its time-out to a few: after three failures one question in five seconds tries it again', async () => {
    answer = (_, response) => response.writeHead(503).end();
    const verifier = verifierOf();
    for (let count = 0; count < 50; count += 1)
      expect(await kindOf(verifier, `token-${count}`)).toBe('unavailable');
    expect(asked).toHaveLength(3);
    for (let round = 1; round <= 3; round += 1) {
      now += 5 * SECOND;
      const kinds = await Promise.all(
        Array.from({ length: 20 }, (_, each) => kindOf(verifier, `${round}-${each}`)),
      );
      expect(new Set(kinds)).toEqual(new Set(['unavailable']));
      expect(asked).toHaveLength(3 + round);
    }
    answer = says({});
    now += 5 * SECOND;
    expect(await kindOf(verifier, 'abc')).toBe('consumer');
    expect(await kindOf(verifier, 'abd')).toBe('consumer');
  });

  it.each<[string, typeof answer]>([
    ['is called a bad request', (_, response) => response.writeHead(400).end()],
    ['has no such address', (_, response) => response.writeHead(404).end()],
    ['has an answer of 64 KiB and more', says({ note: ' '.repeat(64 * 1024) })],
    ['has a page for an answer', (_, response) => response.end('<html>')],
    ['has an answer that says nothing', says({ active: undefined })],
  ])('but one for other tokens goes on: a token that %s is nobody else’s matter', async (_name, odd) => {
    answer = (form, ...rest) =>
      form.token?.startsWith('odd') ? odd(form, ...rest) : says({})(form, rest[0]);
    const verifier = verifierOf();
    for (let count = 0; count < 6; count += 1)
      expect(await kindOf(verifier, `odd-${count}`)).toBe('unavailable');
    expect(await kindOf(verifier, 'abc')).toBe('consumer');
    expect(asked).toHaveLength(7);
  });

  it.each([401, 403, 429, 500, 503])(
    'with status %i is one for all: after three the gate is shut',
    async (status) => {
      answer = (_, response) => response.writeHead(status).end();
      const verifier = verifierOf();
      for (let count = 0; count < 6; count += 1) await verifier.verify(`token-${count}`);
      expect(asked).toHaveLength(3);
    },
  );

  it('is tried again after the clock was set back a year', async () => {
    answer = (_, response) => response.writeHead(503).end();
    const verifier = verifierOf();
    for (let count = 0; count < 4; count += 1) await verifier.verify('abc');
    answer = says({});
    now -= 365 * 86_400 * SECOND;
    expect(await kindOf(verifier, 'abc')).toBe('consumer');
  });

  it('keeps good those that are known', async () => {
    const verifier = verifierOf();
    await verifier.verify('abc');
    answer = (_, response) => response.writeHead(503).end();
    for (let count = 0; count < 5; count += 1) await verifier.verify(`token-${count}`);
    expect(verifier.verify('abc')).toMatchObject({ kind: 'consumer' });
  });

  it('is asked about no more than 256 tokens at once', async () => {
    const held: ServerResponse[] = [];
    const { promise: full, resolve } = Promise.withResolvers<void>();
    answer = (_, response) => {
      if (held.push(response) === 256) resolve();
    };
    const verifier = verifierOf({}, { timeout: 60_000 });
    const all = Array.from({ length: 300 }, (_, each) => kindOf(verifier, `token-${each}`));
    await full;
    for (const response of held) response.end(JSON.stringify(good()));
    const kinds = await Promise.all(all);
    expect(kinds.filter((kind) => kind === 'consumer')).toHaveLength(256);
    expect(kinds.slice(256)).toEqual(Array.from({ length: 44 }, () => 'unavailable'));
  });

  it('is let go by close, without a word', async () => {
    answer = () => undefined;
    const verifier = verifierOf();
    const waiting = kindOf(verifier, 'abc');
    verifier.close();
    expect(await waiting).toBe('unavailable');
    expect(told).toEqual([]);
  });
});
