// Opaque tokens (RFC 7662): the request, accepted responses, and the cache.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { IntrospectionIdentity } from '../../gateway/plan/settings.ts';
import {
  good,
  type IntrospectionEndpoint,
  kindOf,
  openEndpoint,
  SECOND,
  START,
  says,
} from './introspection-endpoint.ts';

let endpoint: IntrospectionEndpoint;
beforeAll(async () => {
  endpoint = await openEndpoint();
});
afterAll(() => endpoint[Symbol.asyncDispose]());
afterEach(() => endpoint.reset());

describe('the introspection request', () => {
  it("is one form POST with the client's id and secret (RFC 6749 §2.3.1)", async () => {
    await endpoint.verifierOf().verify('abc+/~.-_==');
    expect(endpoint.asked).toEqual([
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
    expect(() => endpoint.verifierOf({ endpoint: elsewhere })).toThrow(TypeError);
  });

  it('is sent for opaque tokens, and for JWTs of the configured issuer', () => {
    const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.AA`;
    const verifier = endpoint.verifierOf();
    expect(['abc', 'a.b', 'a.b.c', jwt({})].map(verifier.claims)).toEqual([true, true, true, true]);
    expect(verifier.claims(jwt({ iss: 'https://auth.example.com' }))).toBe(true);
    expect(verifier.claims(jwt({ iss: 'https://auth.example.com/' }))).toBe(false);
    expect(endpoint.verifierOf({ issuer: undefined }).claims(jwt({ iss: 'https://a.example' }))).toBe(false);
    expect(endpoint.asked).toEqual([]);
  });
});

it('an introspection request is retried once if the endpoint has closed the connection', async () => {
  const verifier = endpoint.verifierOf();
  await verifier.verify('abc');
  endpoint.closeIdleConnections();
  expect(await kindOf(verifier, 'abd')).toBe('consumer');
  endpoint.asked = [];
  let hangUps = 0;
  endpoint.answer = (_, response) => {
    hangUps += 1;
    response.destroy();
  };
  expect(await kindOf(verifier, 'abe')).toBe('unavailable');
  expect(hangUps).toBe(2);
});

describe('an introspection response', () => {
  it('for an active token gives the consumer, its scopes and claims', async () => {
    expect(await endpoint.verifierOf().verify('abc')).toEqual({
      kind: 'consumer',
      consumer: {
        id: 'acme',
        mayLabelMetrics: true,
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
    ['exp 30 s in the past, beyond the leeway', { exp: AT - 30 }, 'expired'],
    ['exp as text', { exp: `${AT + 600}` }, 'claims'],
    ['nbf beyond the leeway', { nbf: AT + 31 }, 'not_yet'],
    ['nbf as text', { nbf: '0' }, 'claims'],
    ['another issuer', { iss: 'https://auth.example.com/' }, 'issuer'],
    ['no issuer', { iss: undefined }, 'issuer'],
    ['another audience', { aud: 'api-2' }, 'audience'],
    ['audiences without our audience', { aud: ['billing', 'api-2'] }, 'audience'],
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
    endpoint.answer = says(changes);
    expect(await endpoint.verifierOf().verify('abc')).toEqual({
      kind: 'refused',
      refusal: {
        reason: 'token_invalid',
        description: flaw === 'expired' ? 'The access token expired' : 'The access token is not valid',
        flaw,
      },
    });
  });

  it.each<[string, Readonly<Record<string, unknown>>, Partial<IntrospectionIdentity>]>([
    ['audiences with our audience', { aud: ['billing', 'api'] }, {}],
    [
      'any issuer and audience, if none is configured',
      { iss: 1, aud: 2 },
      { issuer: undefined, audience: undefined },
    ],
    ['no exp', { exp: undefined }, {}],
    ['members that are null', { exp: null, nbf: null, cnf: null }, {}],
    ['exp that passed within the leeway', { exp: AT - 29 }, {}],
    ['nbf within the leeway', { nbf: AT + 30 }, {}],
    ['token_use and typ of an access token', { token_use: 'access_token', typ: 'at+JWT' }, {}],
    ['a configured member for the consumer', { username: 'acme' }, { consumerClaims: ['username'] }],
  ])('with %s accepts the token', async (_name, changes, settings) => {
    endpoint.answer = says(changes);
    expect(await kindOf(endpoint.verifierOf(settings), 'abc')).toBe('consumer');
  });

  it('JWT-6: with a certificate binding gives the fingerprint for each request', async () => {
    endpoint.answer = says({ cnf: { 'x5t#S256': Buffer.alloc(32, 7).toString('base64url') } });
    expect(await endpoint.verifierOf().verify('abc')).toMatchObject({
      kind: 'consumer',
      boundTo: '07'.repeat(32),
    });
  });
});

/** Removes all members of the valid response. */
function blank() {
  return Object.fromEntries(Object.keys(good()).map((name) => [name, undefined]));
}

describe('the cached verdict', () => {
  it.each<[string, number, Partial<IntrospectionIdentity>, Readonly<Record<string, unknown>>]>([
    ['60 seconds', 60, {}, {}],
    ['60 seconds, without exp', 60, {}, { exp: undefined }],
    ['the life of the token if that is shorter', 20, {}, { exp: START / SECOND + 20 }],
    ['the time in token_cache', 5, { tokenCacheMs: 5 * SECOND }, {}],
    ['10 seconds if the token is not active', 10, {}, { active: false }],
    ['token_cache if the token is not active', 5, { tokenCacheMs: 5 * SECOND }, { active: false }],
  ])('is valid for %s', async (_name, seconds, settings, changes) => {
    endpoint.answer = says(changes);
    const verifier = endpoint.verifierOf(settings);
    await verifier.verify('abc');
    endpoint.now = START + seconds * SECOND - 1;
    expect(verifier.verify('abc')).not.toBeInstanceOf(Promise);
    endpoint.now += 1;
    await verifier.verify('abc');
    expect(endpoint.asked).toHaveLength(2);
  });

  it('does not exist with token_cache: off, but concurrent callers share one request', async () => {
    const verifier = endpoint.verifierOf({ tokenCacheMs: 0 });
    await Promise.all(Array.from({ length: 20 }, () => verifier.verify('abc')));
    expect(endpoint.asked).toHaveLength(1);
    await verifier.verify('abc');
    expect(endpoint.asked).toHaveLength(2);
  });

  it('is bound to the whole token', async () => {
    const verifier = endpoint.verifierOf();
    await verifier.verify('abc');
    endpoint.answer = says({ active: false });
    expect(await kindOf(verifier, 'abd')).toBe('refused');
    expect(await kindOf(verifier, 'abc')).toBe('consumer');
  });
});
