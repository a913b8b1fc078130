// Tests of the sample issuer's token endpoint for codes and refresh tokens (OAU-3 to OAU-7, OAU-10).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Issuer } from '../../../upstreams/identity/server.ts';
import {
  type Answer,
  AUTHORIZE,
  ISSUER,
  openBrowser,
  type Parameters,
  post,
  redemption,
  STOREFRONT,
  VERIFIER,
  type Walker,
  walk,
} from '../../support/oauth-walk.ts';
import { later, openIssuer } from './own-issuer.ts';

const stack = new AsyncDisposableStack();
let folder: string;
let issuer: Issuer;
/** Shared, so that ana signs in once: checking a password is slow on purpose. */
let browser: Walker;
beforeAll(async () => {
  ({ folder, issuer } = stack.use(await openIssuer()));
  browser = openBrowser(issuer);
});
afterAll(() => stack.disposeAsync());
afterEach(() => {
  vi.useRealTimers();
});

const authorize = (parameters: Parameters = AUTHORIZE) => walk(browser, parameters);
const redeem = (callback: URL, more: Parameters = {}) => post(issuer, '/token', redemption(callback, more));
const refresh = (token: unknown, more: Parameters = {}) =>
  post(issuer, '/token', {
    grant_type: 'refresh_token',
    refresh_token: String(token),
    ...STOREFRONT,
    ...more,
  });
const granted = async (parameters?: Parameters, more?: Parameters): Promise<Answer> => {
  const answer = await redeem(await authorize(parameters), more);
  expect(answer.status).toBe(200);
  return answer;
};
const without = (form: Parameters, name: string): Parameters =>
  Object.fromEntries(Object.entries(form).filter(([each]) => each !== name));

const CLASSIC = { client_id: 'classic', client_secret: 'classic-sample-secret' };
const PLAIN = {
  ...without(without(AUTHORIZE, 'code_challenge'), 'code_challenge_method'),
  client_id: 'classic',
};

describe('a code', () => {
  it('OAU-6, OAU-10: gives a JWT of ten minutes for the samples, and a refresh token', async () => {
    const { headers, body } = await granted();
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      access_token: expect.any(String),
      refresh_token: expect.stringMatching(/^[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 600,
      scope: 'orders:read',
    });
    const token = String(body.access_token);
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'RS256', typ: 'at+jwt', kid: expect.any(String) });
    const claims = decodeJwt(token);
    expect(claims).toMatchObject({
      iss: ISSUER,
      aud: 'sundial-samples',
      sub: 'ana',
      client_id: 'storefront',
      scope: 'orders:read',
      jti: expect.any(String),
    });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(600);
  });

  it.each<[string, Parameters, Parameters]>([
    ["the specification's confidential client, without PKCE", PLAIN, CLASSIC],
    ['a public client, without a secret', { ...AUTHORIZE, client_id: 'handheld' }, { client_id: 'handheld' }],
  ])('is redeemed by %s', async (_name, parameters, client) => {
    const form = without(without(redemption(await authorize(parameters)), 'client_secret'), 'client_id');
    const sent = parameters === PLAIN ? without(form, 'code_verifier') : form;
    const answer = await post(issuer, '/token', { ...sent, ...client });
    expect(answer.body).toMatchObject({ token_type: 'Bearer', refresh_token: expect.any(String) });
  });

  it('is also redeemed with the secret by Basic', async () => {
    const form = without(redemption(await authorize()), 'client_secret');
    const authorization = `Basic ${btoa('storefront:storefront-sample-secret')}`;
    expect((await post(issuer, '/token', form, { authorization })).status).toBe(200);
  });

  it.each<[string, (form: Parameters) => Parameters, number, string]>([
    ['OAU-3: without the verifier', (form) => without(form, 'code_verifier'), 400, 'invalid_grant'],
    [
      'OAU-3: with another verifier',
      (form) => ({ ...form, code_verifier: VERIFIER.toLowerCase() }),
      400,
      'invalid_grant',
    ],
    [
      'OAU-3: with a short verifier',
      (form) => ({ ...form, code_verifier: VERIFIER.slice(1) }),
      400,
      'invalid_request',
    ],
    ['OAU-5: without the address', (form) => without(form, 'redirect_uri'), 400, 'invalid_request'],
    [
      'OAU-5: with another address',
      (form) => ({ ...form, redirect_uri: 'http://127.0.0.1:4009/callback' }),
      400,
      'invalid_grant',
    ],
    ['OAU-4: by another client', (form) => ({ ...form, ...CLASSIC }), 400, 'invalid_grant'],
    ['with a wrong secret', (form) => ({ ...form, client_secret: 'guess' }), 401, 'invalid_client'],
    ['without a secret', (form) => without(form, 'client_secret'), 401, 'invalid_client'],
  ])('is not redeemed %s, and stays valid for its client', async (_name, change, status, error) => {
    const form = redemption(await authorize());
    const refused = await post(issuer, '/token', change(form));
    expect(refused).toMatchObject({ status, body: { error, error_description: expect.any(String) } });
    // OAU-4: a failed replay revokes nothing (OAuth 2.1 §7.5.2).
    expect((await post(issuer, '/token', form)).status).toBe(200);
    expect((await post(issuer, '/token', change(form))).status).toBe(status);
  });

  it('OAU-3: requested without a challenge is not redeemed with a verifier', async () => {
    const form = { ...redemption(await authorize(PLAIN)), ...CLASSIC };
    expect(await post(issuer, '/token', form)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
  });

  it('OAU-4: used a second time revokes the tokens of the first use', async () => {
    const callback = await authorize();
    const first = await redeem(callback);
    expect(await redeem(callback)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await refresh(first.body.refresh_token)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
  });

  it('OAU-4: used twice concurrently is granted once, and that grant is revoked', async () => {
    const callback = await authorize();
    const answers = await Promise.all([1, 2, 3, 4].map(() => redeem(callback)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(3);
    expect((await refresh(won[0]?.body.refresh_token)).status).toBe(400);
  });

  it('OAU-4: expires after a minute', async () => {
    const callback = await authorize();
    later(61);
    expect(await redeem(callback)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });
});

describe('a refresh token', () => {
  it('OAU-7: is replaced at each use, and the chain continues', async () => {
    let { body } = await granted({ ...AUTHORIZE, scope: 'orders:read orders:write' });
    const seen = new Set([body.refresh_token]);
    for (let turn = 0; turn < 3; turn += 1) {
      const answer = await refresh(body.refresh_token);
      expect(answer.body).toMatchObject({
        token_type: 'Bearer',
        expires_in: 600,
        scope: 'orders:read orders:write',
      });
      ({ body } = answer);
      seen.add(body.refresh_token);
    }
    expect(seen.size).toBe(4);
  });

  it('OAU-7: used a second time revokes its family and no other', async () => {
    const other = await granted();
    const stolen = (await granted()).body.refresh_token;
    const second = (await refresh(stolen)).body.refresh_token;
    const third = (await refresh(second)).body.refresh_token;
    expect(await refresh(stolen)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    for (const token of [second, third]) expect((await refresh(token)).body.error).toBe('invalid_grant');
    expect((await refresh(other.body.refresh_token)).status).toBe(200);
  });

  it('OAU-7: used twice concurrently is granted once, and the family is revoked', async () => {
    const token = (await granted()).body.refresh_token;
    const answers = await Promise.all([1, 2, 3].map(() => refresh(token)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect((await refresh(won[0]?.body.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('OAU-7: gives fewer scopes on request, and never more', async () => {
    const { body } = await granted({ ...AUTHORIZE, scope: 'orders:read orders:write' });
    const fewer = await refresh(body.refresh_token, { scope: 'orders:write' });
    expect(decodeJwt(String(fewer.body.access_token)).scope).toBe('orders:write');
    const narrow = await granted();
    const more = await refresh(narrow.body.refresh_token, { scope: 'orders:read orders:write' });
    expect(more).toMatchObject({ status: 400, body: { error: 'invalid_scope' } });
  });

  it.each<[string, Parameters]>([
    ['another client', CLASSIC],
    ['a wrong secret', { client_secret: 'guess' }],
  ])('is not accepted from %s, and stays valid', async (_name, change) => {
    const token = (await granted()).body.refresh_token;
    expect((await refresh(token, change)).status).toBeGreaterThanOrEqual(400);
    expect((await refresh(token)).status).toBe(200);
  });

  it('OAU-7: expires after two weeks without use; a used one continues', async () => {
    const [idle, used] = [(await granted()).body.refresh_token, (await granted()).body.refresh_token];
    later(10 * 86_400);
    const again = (await refresh(used)).body.refresh_token;
    later(10 * 86_400);
    expect((await refresh(idle)).body.error).toBe('invalid_grant');
    expect((await refresh(again)).status).toBe(200);
  });

  it('is revoked with its family; one of another client is not, with the same response', async () => {
    const first = (await granted()).body.refresh_token;
    const token = String((await refresh(first)).body.refresh_token);
    const revoke = (client: Parameters) => post(issuer, '/revoke', { token, ...client });
    expect((await revoke(CLASSIC)).status).toBe(200);
    const kept = String((await refresh(token)).body.refresh_token);
    expect((await post(issuer, '/revoke', { token: kept, ...STOREFRONT })).status).toBe(200);
    expect((await refresh(kept)).body.error).toBe('invalid_grant');
    expect((await post(issuer, '/revoke', { token: 'nonsense', ...STOREFRONT })).status).toBe(200);
    expect((await post(issuer, '/revoke', { token: kept, client_id: 'storefront' })).status).toBe(401);
  });

  it('is not in the file in plain text, and neither is a code', async () => {
    const callback = await authorize();
    const code = callback.searchParams.get('code') ?? '';
    const token = String((await redeem(callback)).body.refresh_token);
    const names = ['identity.db', 'identity.db-wal'];
    const kept = Buffer.concat(await Promise.all(names.map((name) => readFile(join(folder, name)))));
    expect([code, token].filter((secret) => kept.includes(secret))).toEqual([]);
  });
});
