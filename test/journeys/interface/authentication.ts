// "Authentication" of the specification beyond authorization.test.ts: tokens, and flows that are refused.
import { describe, expect, it } from 'vitest';
import { SAMPLE_CLIENT_SECRETS } from '../../../upstreams/identity/sample-secrets.ts';
import { AUTHORIZE, CHALLENGE, query } from '../../support/oauth-walk.ts';
import type { InterfaceFixture } from './fixture.ts';

const partOf = (token: string, index: number): Readonly<Record<string, unknown>> =>
  JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString());

export function authentication(fixture: () => InterfaceFixture): void {
  const tokenOf = async (id: string) => {
    const form = { grant_type: 'client_credentials', client_id: id };
    const { status, json } = await fixture().ask('/auth/token', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...form, client_secret: SAMPLE_CLIENT_SECRETS[id] ?? '' }).toString(),
      anonymous: true,
    });
    expect(status).toBe(200);
    return { token: String(json.access_token), lifetime: Number(json.expires_in) };
  };

  describe('Authentication', () => {
    it('OAU-6, OAU-10: an access token is a signed JWT that is valid for one hour at most', async () => {
      const { token, lifetime } = await tokenOf('acme');
      expect(partOf(token, 0)).toMatchObject({ typ: 'at+jwt', alg: expect.stringMatching(/^(RS|ES)256$/) });
      const { iat, exp } = partOf(token, 1);
      expect(Number(exp) - Number(iat)).toBeLessThanOrEqual(3_600);
      expect(lifetime).toBeLessThanOrEqual(3_600);
      const authorization = `Bearer ${token}`;
      expect(await fixture().ask('/api/v2/orders/1001', { headers: { authorization } })).toMatchObject({
        status: 200,
      });
      const forged = await fixture().ask('/api/v2/orders/1001', {
        headers: { authorization: `${authorization.slice(0, -8)}AAAAAAAA` },
      });
      expect(forged).toMatchObject({ status: 401, json: { error: 'Unauthorized' } });
    });

    it.each([
      ['GET', '/api/v2/orders'],
      ['POST', '/api/v2/orders'],
      ['PUT', '/api/v2/orders/1001'],
      ['PATCH', '/api/v1/orders/1001'],
      ['DELETE', '/api/v1/orders/1001'],
      ['POST', '/api/v2/orders/1001/cancel'],
      ['POST', '/api/payments'],
      ['GET', '/api/webhooks'],
    ])('AUTH-2: each request needs its own token: %s %s', async (method, path) => {
      expect(await fixture().ask(path, { method, anonymous: true })).toMatchObject({
        status: 401,
        json: { error: 'Unauthorized', message: expect.any(String) },
        headers: { 'www-authenticate': expect.stringMatching(/^Bearer realm="/) },
      });
    });

    it.each([
      ['the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
      [
        'a public client without PKCE',
        { client_id: 'handheld', code_challenge: '', code_challenge_method: '' },
        'invalid_request',
      ],
      [
        'PKCE with the method plain',
        { client_id: 'handheld', code_challenge: CHALLENGE, code_challenge_method: 'plain' },
        'invalid_request',
      ],
    ])('OAU-1, OAU-3: %s is refused', async (_what, change, error) => {
      const entries = Object.entries({ ...AUTHORIZE, ...change }).filter(([, value]) => value !== '');
      const path = `/auth${query(Object.fromEntries(entries))}`;
      const answer = await fixture().ask(path, { anonymous: true });
      expect([302, 303]).toContain(answer.status);
      const location = new URL(answer.headers.location ?? '');
      expect(location.href).toMatch(/^http:\/\/127\.0\.0\.1:4008\/callback/);
      expect(`${location.search}${location.hash}`).toContain(`error=${error}`);
      expect(location.href).not.toMatch(/access_token|code=/);
    });
  });
}
