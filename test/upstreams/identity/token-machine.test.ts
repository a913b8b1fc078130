// Tests of the token endpoint of the sample issuer for machines (OAU-5, OAU-6, OAU-9).
import { decodeJwt } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Issuer } from '../../../upstreams/identity/server.ts';
import { type Parameters, post, STOREFRONT } from '../../support/oauth-walk.ts';
import { later, openIssuer } from './own-issuer.ts';

const stack = new AsyncDisposableStack();
let issuer: Issuer;
beforeAll(async () => {
  ({ issuer } = stack.use(await openIssuer()));
});
afterAll(() => stack.disposeAsync());
afterEach(() => {
  vi.useRealTimers();
});

describe('a machine', () => {
  const ACME = { grant_type: 'client_credentials', client_id: 'acme', client_secret: 'acme-sample-secret' };
  const BASIC = `Basic ${btoa('acme:acme-sample-secret')}`;
  const ALL =
    'orders:read orders:write catalog:read payments:read payments:write webhooks:read webhooks:write';

  it.each<[string, Parameters, Parameters]>([
    ['in the form', ACME, {}],
    ['by Basic', { grant_type: 'client_credentials' }, { authorization: BASIC }],
  ])(
    'OAU-6: with its secret %s gets all its scopes for an hour, and no refresh token',
    async (_name, form, headers) => {
      const answer = await post(issuer, '/token', form, headers);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      const body = { access_token: expect.any(String), token_type: 'Bearer', expires_in: 3600, scope: ALL };
      expect(answer).toMatchObject({ status: 200, body });
      expect(answer.body).not.toHaveProperty('refresh_token');
      expect(decodeJwt(String(answer.body.access_token))).toMatchObject({
        sub: 'acme',
        account_created: '2025-03-14',
      });
    },
  );

  it('without a known creation day gets no account_created claim', async () => {
    const form = { ...ACME, client_id: 'initech', client_secret: 'initech-sample-secret' };
    const { body } = await post(issuer, '/token', form);
    expect(decodeJwt(String(body.access_token))).not.toHaveProperty('account_created');
  });

  it('OAU-6: gets no more scopes than it requested', async () => {
    const { body } = await post(issuer, '/token', { ...ACME, scope: 'orders:read' });
    expect(decodeJwt(String(body.access_token)).scope).toBe('orders:read');
  });

  it.each<[string, Parameters | string, Parameters, number, string]>([
    ['a wrong secret', { ...ACME, client_secret: 'guess' }, {}, 401, 'invalid_client'],
    [
      'a wrong secret by Basic',
      { grant_type: 'client_credentials' },
      { authorization: `Basic ${btoa('acme:guess')}` },
      401,
      'invalid_client',
    ],
    [
      'its digest instead of the secret',
      { ...ACME, client_secret: 'fdI5_UiyU3vXMZIgcsSEhjJkBx9YWZh6pt1KKCmVvNM' },
      {},
      401,
      'invalid_client',
    ],
    ['an unknown client', { ...ACME, client_id: 'nobody' }, {}, 401, 'invalid_client'],
    ['the secret of another client', { ...ACME, client_id: 'globex' }, {}, 401, 'invalid_client'],
    ['no client', { grant_type: 'client_credentials' }, {}, 400, 'invalid_request'],
    ['a secret in both places', ACME, { authorization: BASIC }, 400, 'invalid_request'],
    [
      'two clients',
      { grant_type: 'client_credentials', client_id: 'globex' },
      { authorization: BASIC },
      400,
      'invalid_request',
    ],
    [
      'another scheme',
      { grant_type: 'client_credentials' },
      { authorization: 'Bearer x' },
      400,
      'invalid_request',
    ],
    [
      'the password grant',
      { ...ACME, grant_type: 'password', username: 'ana', password: 'sunrise-sample' },
      {},
      400,
      'unsupported_grant_type',
    ],
    ['the implicit grant', { ...ACME, grant_type: 'implicit' }, {}, 400, 'unsupported_grant_type'],
    [
      'the grant of applications',
      { ...ACME, grant_type: 'refresh_token', refresh_token: 'x' },
      {},
      400,
      'invalid_request',
    ],
    [
      'an application with the grant of machines',
      { ...STOREFRONT, grant_type: 'client_credentials' },
      {},
      400,
      'invalid_request',
    ],
    ['no grant', { client_id: 'acme', client_secret: 'acme-sample-secret' }, {}, 400, 'invalid_request'],
    ['a scope it may not have', { ...ACME, scope: 'orders:read admin' }, {}, 400, 'invalid_scope'],
    ['an unknown resource', { ...ACME, resource: 'https://other.example' }, {}, 400, 'invalid_target'],
    ['a parameter twice', `${new URLSearchParams(ACME)}&scope=a&scope=b`, {}, 400, 'invalid_request'],
    ['JSON', ACME, { 'content-type': 'application/json' }, 400, 'invalid_request'],
    ['a body that is too large', { ...ACME, scope: 'x'.repeat(60_000) }, {}, 400, 'invalid_request'],
    ['a page of a browser', ACME, { origin: 'https://evil.example' }, 400, 'invalid_request'],
  ])('OAU-6: gets an OAuth error for %s', async (_name, form, headers, status, error) => {
    const answer = await post(issuer, '/token', form, headers);
    expect(answer).toMatchObject({ status, body: { error, error_description: expect.any(String) } });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const tried = status === 401 && 'authorization' in headers;
    expect(answer.headers.get('www-authenticate')?.startsWith('Basic ') ?? false).toBe(tried);
  });

  it('OAU-5: a secret in the URL is ignored', async () => {
    const answer = await post(issuer, `/token?${new URLSearchParams(ACME)}`, {
      grant_type: 'client_credentials',
    });
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  it('OAU-9: is refused for a minute after ten wrong secrets, and other clients are not', async () => {
    const from = (address: string) => ({ 'x-forwarded-for': `${address}, 203.0.113.9` });
    const initech = { ...ACME, client_id: 'initech', client_secret: 'initech-sample-secret' };
    for (let turn = 0; turn < 10; turn += 1) {
      const wrong = await post(
        issuer,
        '/token',
        { ...initech, client_secret: `guess ${turn}` },
        from('10.0.0.1'),
      );
      expect(wrong.status).toBe(401);
    }
    const held = await post(issuer, '/token', initech, from('10.0.0.1'));
    expect(held).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } });
    expect(Number(held.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect((await post(issuer, '/token', initech, from('10.0.0.2'))).status).toBe(200);
    expect((await post(issuer, '/token', ACME, from('10.0.0.1'))).status).toBe(200);
    later(61);
    expect((await post(issuer, '/token', initech, from('10.0.0.1'))).status).toBe(200);
  });
});
