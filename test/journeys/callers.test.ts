// Callers by token, API key or client certificate: order of identities, refusals, and what the upstream gets.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fields, overHttp1 } from '../support/http-client.ts';
import { certificates } from './callers/certificates.ts';
import { CHALLENGES, challengesOf, createFixture, seen } from './callers/fixture.ts';
import { keys } from './callers/keys.ts';

const fixture = createFixture();
const { ask, bearer, gateway, issuer, logged, makeKey, pairs } = fixture;
beforeAll(fixture.open);
afterAll(fixture.close);

keys(fixture);

describe('an API with several identities', () => {
  it('takes the first credential in the order of the API', async () => {
    const { secret } = await makeKey('by-key', { scopes: ['orders:read'] });
    const token = await bearer({ client_id: 'by-token', scope: 'orders:read' });
    await using known = overHttp1(gateway().https, { pair: pairs().proven });
    const asked = async (headers: Fields) => logged(await ask('/api/v1/orders', headers, { over: known }));
    expect(await asked({ ...token, 'x-api-key': secret })).toMatchObject({ consumer: 'by-token' });
    expect(await asked({ 'x-api-key': secret })).toMatchObject({ consumer: 'by-key' });
    expect(await asked({})).toMatchObject({ consumer: 'billing.acme.example' });
  });

  it('refuses a wrong credential, and does not try the next one', async () => {
    const { secret } = await makeKey('by-key', { scopes: ['orders:read'] });
    const wrong = await ask('/api/v1/orders', { authorization: 'Bearer a.b.c', 'x-api-key': secret });
    expect(wrong.status).toBe(401);
    expect(await logged(wrong)).toMatchObject({ refusal: 'token_invalid' });
    expect(challengesOf(wrong)[0]).toBe(
      `Bearer realm="orders", error="invalid_token", error_description="The access token is not valid"`,
    );
  });

  it('AUTH-2: sends an anonymous caller every challenge, and no error', async () => {
    const answer = await ask('/api/v1/orders');
    expect(answer.status).toBe(401);
    expect(challengesOf(answer)).toEqual(CHALLENGES);
    expect(await logged(answer)).toMatchObject({ refusal: 'credentials_missing' });
  });

  it('accepts fewer identities for one version, and needs none for one operation', async () => {
    const { secret } = await makeKey('by-key', { scopes: ['orders:read'] });
    const answer = await ask('/api/v2/orders', { 'x-api-key': secret });
    expect(answer.status).toBe(401);
    expect(challengesOf(answer)).toEqual(CHALLENGES.slice(0, 1));
    expect((await ask('/api/v2/orders', await bearer({ scope: '' }))).status).toBe(200);
    expect((await ask('/api/v2/orders/health')).status).toBe(200);
  });

  it('least privilege: an operation without a rule gets 403, one with `any` needs no scope', async () => {
    const token = await bearer({ scope: 'orders:read orders:write' });
    const refused = await ask('/api/v1/orders', token, { method: 'POST' });
    expect(refused.status).toBe(403);
    expect(challengesOf(refused)).toEqual([]);
    expect(await logged(refused)).toMatchObject({ refusal: 'operation_not_granted' });
    expect((await ask('/api/v1/orders/notes', token, { method: 'PUT' })).status).toBe(200);
    const { secret } = await makeKey('by-key', { scopes: ['orders:read'] });
    const lacking = await ask('/api/v1/orders/imports', { 'x-api-key': secret }, { method: 'POST' });
    expect(lacking).toMatchObject({
      status: 403,
      json: { message: 'The API key lacks a scope: orders:import.' },
    });
    expect(challengesOf(lacking)).toEqual([
      `${CHALLENGES[1]}, error="insufficient_scope", scope="orders:import"`,
    ]);
  });
});

describe('callers without credentials', () => {
  it('pass if the policy allows them and no scope is needed, limited by address', async () => {
    const forged = { 'x-consumer-id': 'acme', X_Consumer_Id: 'acme', 'X-CONSUMER-ID': 'acme' };
    const first = await ask('/api/v1/news', forged);
    expect(first.status).toBe(200);
    expect(seen(first, /consumer/i)).toEqual([]);
    expect(await logged(first)).not.toHaveProperty('consumer');
    const write = await ask('/api/v1/news', {}, { method: 'POST' });
    expect(write.status).toBe(401);
    expect(await logged(write)).toMatchObject({ refusal: 'credentials_missing' });
    for (let count = 1; count < 3; count += 1) await ask('/api/v1/news');
    expect((await ask('/api/v1/news')).status).toBe(429);
  });

  it('are refused if they send a wrong credential', async () => {
    expect((await ask('/api/v1/news', { 'x-api-key': 'sdl_wrong' })).status).toBe(401);
    expect((await ask('/api/v1/news', { authorization: 'Bearer a.b.c' })).status).toBe(401);
  });
});

describe('protected-resource metadata', () => {
  it.each([
    ['', 'https://a.example', ['news:write', 'orders:import', 'orders:read']],
    ['/api/orders', 'https://a.example/api/orders', ['orders:import', 'orders:read']],
    ['/api/news', 'https://a.example/api/news', ['news:write']],
  ])('RFC 9728: at …%s describes %s', async (path, resource, scopes) => {
    const answer = await ask(`/.well-known/oauth-protected-resource${path}`);
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': expect.stringMatching(/json/) } });
    expect(answer.json).toEqual({
      resource,
      authorization_servers: [issuer().url],
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
    });
  });

  it('RFC 9728: gets 404 for an unknown resource', async () => {
    for (const path of ['/', '/api/orders/', '/api/others'])
      expect((await ask(`/.well-known/oauth-protected-resource${path}`)).status).toBe(404);
  });
});

certificates(fixture);
