// Bearer credentials, consumers, authorisation and challenges.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordFields } from '../../gateway/exchange/request-view.ts';
import {
  type AuthenticationRefusal,
  authorise,
  type CredentialScheme,
  type IdentifiedRule,
} from '../../gateway/policy/authentication/access.ts';
import { challengesFor } from '../../gateway/policy/authentication/challenge.ts';
import { consumerFrom, tokenEndOf } from '../../gateway/policy/authentication/consumer.ts';
import { readBearer, tokenAuthenticator } from '../../gateway/policy/authentication/token-authenticator.ts';
import { anyText } from '../support/any-text.ts';

describe('bearer credentials', () => {
  it.each(['Bearer a.b.c', 'bearer a.b.c', 'BEARER a.b.c', 'Bearer   a.b.c'])(
    'AUTH-1: %j carries a token',
    (authorization) => {
      expect(readBearer(new RecordFields({ authorization }))).toEqual({ kind: 'token', token: 'a.b.c' });
    },
  );

  it('AUTH-1: every token68 is accepted as a token', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9\-._~+/]{1,40}={0,3}$/), (token) => {
        expect(readBearer(new RecordFields({ authorization: `Bearer ${token}` }))).toEqual({
          kind: 'token',
          token,
        });
      }),
    );
  });

  it.each([undefined, '', 'Basic dTpw', 'Bearerer abc', 'Digest username="a", realm="b"', []])(
    'AUTH-2: %j is a request without credentials',
    (authorization) => {
      expect(readBearer(new RecordFields({ authorization }))).toEqual({
        kind: 'refused',
        refusal: { reason: 'credentials_missing' },
      });
    },
  );

  it.each([
    'Bearer',
    'Bearer ',
    'Bearer\ta.b.c',
    'Bearer a.b.c d',
    'Bearer a=b',
    'Bearer =',
    'Bearer "a"',
    'Bearer a.b.c, Bearer d.e.f',
    'Bearer a\u00e9',
    'Bearer, x',
  ])('AUTH-1: %j is malformed', (authorization) => {
    expect(readBearer(new RecordFields({ authorization }))).toEqual({
      kind: 'refused',
      refusal: { reason: 'credentials_malformed', field: 'Authorization' },
    });
  });

  it('AUTH-1: two Authorization lines are malformed, even if they are equal', () => {
    const authorization = ['Bearer a', 'Bearer a'];
    expect(readBearer(new RecordFields({ authorization }))).toEqual({
      kind: 'refused',
      refusal: { reason: 'credentials_malformed', field: 'Authorization' },
    });
    expect(readBearer(new RecordFields({ authorization: ['Bearer a'] }))).toEqual({
      kind: 'token',
      token: 'a',
    });
  });

  it('JWT-8: a token of 8 KiB passes, a longer one is invalid', () => {
    expect(readBearer(new RecordFields({ authorization: `Bearer ${'a'.repeat(8192)}` })).kind).toBe('token');
    expect(readBearer(new RecordFields({ authorization: `Bearer ${'a'.repeat(8193)}` }))).toMatchObject({
      refusal: { reason: 'token_invalid' },
    });
  });
});

describe('the expiry of a token', () => {
  const [exp, fingerprint] = [1_000, 'ab'];
  const shown = (ends: number) => ({
    ...{ commonName: undefined, dnsNames: [], uris: [], fingerprint, ends },
  });

  it.each([
    ['a bound token ends with its certificate', fingerprint, { exp }, 900_000, 900_000],
    ['a bound token ends with its exp', fingerprint, { exp }, 1_100_000, 1_030_000],
    ['a bound token without exp ends with its certificate', fingerprint, {}, 900_000, 900_000],
    [
      'any other token ends with its exp, whatever certificate the connection has',
      undefined,
      { exp },
      900_000,
      1_030_000,
    ],
    ['another token without exp does not end', undefined, {}, 900_000, undefined],
  ] as const)('WS-6: %s', (_what, boundTo, claims, certificateEnds, ends) => {
    const consumer = {
      id: 'acme',
      mayLabelMetrics: true,
      via: 'token',
      scopes: new Set<string>(),
      claims,
    } as const;
    const verified = { kind: 'consumer', consumer, ...(boundTo && { boundTo }) } as const;
    const judged = tokenAuthenticator(() => 0, { claims: () => true, verify: () => verified }).judge({
      headers: new RecordFields({ authorization: 'Bearer abc' }),
      clientCertificate: shown(certificateEnds),
    });
    if (judged instanceof Promise || judged.kind !== 'consumer') throw new Error('not known at once');
    expect(tokenEndOf(judged.consumer)).toBe(ends);
  });
});

describe('consumers', () => {
  const claims = { client_id: 'acme', azp: 'portal', sub: 'user-7', scope: 'orders:read orders:write' };

  it('takes the id from the first configured claim that the token has', () => {
    expect(consumerFrom(claims, ['client_id', 'azp', 'sub'])?.id).toBe('acme');
    expect(consumerFrom({ ...claims, client_id: undefined }, ['appid', 'azp'])?.id).toBe('portal');
    const partner = { own: 'partner/', others: [] };
    expect(consumerFrom(claims, ['client_id'], partner)).toMatchObject({
      id: 'partner/acme',
      prefixes: partner,
    });
    const main = { own: '', others: ['partner/'] };
    expect(consumerFrom({ client_id: 'partner/acme', sub: 'x' }, ['client_id', 'sub'], main)).toBeUndefined();
    expect(consumerFrom(claims, ['appid'])).toBeUndefined();
  });

  it('counts as a named application only by client_id and azp', () => {
    expect(consumerFrom(claims, ['client_id'])?.mayLabelMetrics).toBe(true);
    expect(consumerFrom(claims, ['azp'])?.mayLabelMetrics).toBe(true);
    expect(consumerFrom(claims, ['sub'])?.mayLabelMetrics).toBe(false);
  });

  it.each([7, null, '', ['acme'], 'a\nb', 'a\u0000', 'a\u200b', 'a\u2028', '\ud800', 'x'.repeat(257)])(
    'an id of %j gives no consumer, and the next claim is not tried',
    (id) => {
      expect(consumerFrom({ client_id: id, sub: 'user-7' }, ['client_id', 'sub'])).toBeUndefined();
    },
  );

  it('ignores inherited property names', () => {
    expect(consumerFrom({}, ['constructor', '__proto__'])).toBeUndefined();
  });

  it('JWT-7: compares scopes as whole words and by case', () => {
    expect(consumerFrom({ ...claims, scope: ' a  b A ' }, ['sub'])?.scopes).toEqual(new Set(['a', 'b', 'A']));
    expect(consumerFrom({ ...claims, scope: ['a'] }, ['sub'])?.scopes).toEqual(new Set());
    expect(consumerFrom({ sub: 'user-7' }, ['sub'])?.scopes).toEqual(new Set());
  });
});

describe('authorisation', () => {
  const rule: IdentifiedRule = {
    kind: 'identified',
    identities: ['main'],
    schemes: [{ scheme: 'Bearer', issuers: [] }],
    anonymous: false,
    vary: '',
    scopes: { read: ['orders:read'], write: ['orders:read', 'orders:write'] },
  };
  const consumer = (...scopes: string[]) => ({
    id: 'acme',
    mayLabelMetrics: true,
    via: 'token' as const,
    scopes: new Set(scopes),
    claims: {},
  });

  it.each(['GET', 'HEAD', 'OPTIONS'])('%s needs the read scopes', (method) => {
    expect(authorise(rule, method, consumer('orders:read'))).toBeUndefined();
    expect(authorise(rule, method, consumer('orders:write'))).toEqual({
      reason: 'scope_insufficient',
      required: ['orders:read'],
      via: 'token',
    });
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'PURGE', 'get'])('%s needs every write scope', (method) => {
    const required = ['orders:read', 'orders:write'];
    expect(authorise(rule, method, consumer(...required))).toBeUndefined();
    expect(authorise(rule, method, consumer('orders:read'))).toEqual({
      reason: 'scope_insufficient',
      required,
      via: 'token',
    });
  });

  it.each(['GET', 'POST'])(
    'without a rule %s is refused, and `any` admits every identified consumer',
    (method) => {
      const none = { ...rule, scopes: { read: undefined, write: undefined } };
      expect(authorise(none, method, consumer('orders:read'))).toEqual({ reason: 'operation_not_granted' });
      expect(authorise(none, method, undefined)).toEqual({ reason: 'operation_not_granted' });
      expect(authorise({ ...rule, scopes: { read: [], write: [] } }, method, consumer())).toBeUndefined();
    },
  );

  it('an anonymous caller passes if no scope is needed, and has no scopes', () => {
    const open = { ...rule, anonymous: true, scopes: { read: [], write: ['orders:write'] } };
    expect(authorise(open, 'GET', undefined)).toBeUndefined();
    expect(authorise(open, 'POST', undefined)).toEqual({ reason: 'credentials_missing' });
  });

  it('JWT-7: a scope does not match as part of another', () => {
    expect(authorise(rule, 'GET', consumer('orders:reader', 'ORDERS:READ'))).toMatchObject({
      reason: 'scope_insufficient',
    });
  });
});

describe('challenges', () => {
  const BEARER = { scheme: 'Bearer', issuers: ['https://auth.example.com'] } as const;
  const KEY = { scheme: 'ApiKey', header: 'X-API-Key' } as const;
  const CERTIFICATE = { scheme: 'ClientCertificate' } as const;
  const metadata = 'https://api.example.com/.well-known/oauth-protected-resource/orders';
  const challenges = (
    refusal: AuthenticationRefusal,
    schemes: readonly CredentialScheme[] = [BEARER],
    resourceMetadata: string | undefined = undefined,
  ) => challengesFor(refusal, { realm: 'orders', schemes, resourceMetadata });

  it('AUTH-2: a request without credentials gets no error code', () => {
    expect(challenges({ reason: 'credentials_missing' })).toEqual(['Bearer realm="orders"']);
  });

  it('AUTH-2: malformed, invalid and insufficient credentials have their error codes', () => {
    expect(challenges({ reason: 'credentials_malformed', field: 'Authorization' })).toEqual([
      'Bearer realm="orders", error="invalid_request"',
    ]);
    expect(challenges({ reason: 'token_invalid', description: 'The access token expired' })).toEqual([
      'Bearer realm="orders", error="invalid_token", error_description="The access token expired"',
    ]);
    expect(
      challenges({ reason: 'scope_insufficient', required: ['orders:read', 'orders:write'], via: 'token' }),
    ).toEqual(['Bearer realm="orders", error="insufficient_scope", scope="orders:read orders:write"']);
  });

  it('AUTH-2, AUTH-3: one challenge per scheme, in order; only Bearer names the metadata', () => {
    const all = [KEY, BEARER, CERTIFICATE];
    const asked = [
      'ApiKey realm="orders", header="X-API-Key"',
      `Bearer realm="orders", resource_metadata="${metadata}"`,
      'ClientCertificate realm="orders"',
    ];
    expect(challenges({ reason: 'credentials_missing' }, all, metadata)).toEqual(asked);
    expect(challenges({ reason: 'key_invalid', flaw: 'revoked' }, all, metadata)).toEqual(asked);
    expect(challenges({ reason: 'credentials_malformed', field: 'X-API-Key' }, all, metadata)).toEqual(asked);
    expect(challenges({ reason: 'certificate_invalid' }, all, metadata)).toEqual(asked);
  });

  it('AUTH-2: two identities of one scheme share a challenge, which lists the key headers of both', () => {
    const partner = { scheme: 'ApiKey', header: 'X-Partner-Key' } as const;
    const other = { ...BEARER, issuers: ['https://other.example'] } as const;
    const asked = ['ApiKey realm="orders", header="X-API-Key, X-Partner-Key"', 'Bearer realm="orders"'];
    expect(challenges({ reason: 'credentials_missing' }, [KEY, BEARER, partner, other])).toEqual(asked);
    expect(challenges({ reason: 'credentials_missing' }, [KEY, BEARER, KEY, BEARER])).toEqual([
      'ApiKey realm="orders", header="X-API-Key"',
      'Bearer realm="orders"',
    ]);
    expect(challenges({ reason: 'scope_insufficient', required: ['a'], via: 'key' }, [KEY, partner])).toEqual(
      [`${asked[0]}, error="insufficient_scope", scope="a"`],
    );
  });

  it.each([
    ['token', 'Bearer realm="orders"'],
    ['key', 'ApiKey realm="orders", header="X-API-Key"'],
    ['certificate', 'ClientCertificate realm="orders"'],
  ] as const)('AUTH-2: missing scopes of a %s are challenged only by its scheme', (via, challenge) => {
    expect(
      challenges({ reason: 'scope_insufficient', required: ['a'], via }, [BEARER, KEY, CERTIFICATE]),
    ).toEqual([`${challenge}, error="insufficient_scope", scope="a"`]);
  });

  it('an operation without a grant is refused without a challenge', () => {
    expect(challenges({ reason: 'operation_not_granted' }, [BEARER, KEY])).toEqual([]);
  });

  it('AUTH-2: no value can end its quoted string', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const [value] = challengesFor(
          { reason: 'token_invalid', description: text },
          { realm: text, schemes: [BEARER], resourceMetadata: undefined },
        );
        expect(value).toMatch(
          /^Bearer realm="[\x20\x21\x23-\x5b\x5d-\x7e]*", error="invalid_token", error_description="[\x20\x21\x23-\x5b\x5d-\x7e]*"$/,
        );
      }),
    );
  });
});
