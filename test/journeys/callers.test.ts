// Who calls, by token, API key or client certificate: the order of the identities, what each refusal asks for, what the
// upstream is told, and the life of a key through the admin API.
import { createHash, X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type KeysAsk, runKeys } from '../../gateway/cli/keys.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { adminWriter } from '../support/admin-write.ts';
import { certificateFolder } from '../support/certificate-folder.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import {
  type Answer,
  type Client,
  type ClientPair,
  type Fields,
  overHttp1,
  overHttp2,
} from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { makeKeyPair } from '../support/key-pairs.ts';

const AUTHOR = { by: 'api-team', why: 'contract 4711' };
const METADATA = 'https://a.example/.well-known/oauth-protected-resource';
const CHALLENGES = [
  `Bearer realm="orders", resource_metadata="${METADATA}/api/orders"`,
  'ApiKey realm="orders", header="X-API-Key"',
  'ClientCertificate realm="orders"',
];

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let issuer: TestIssuer;
let client: Client;
let environment: Readonly<Record<string, string>>;
let write: ReturnType<typeof adminWriter>;
let proven: ClientPair;
let twoNames: ClientPair;
let unproven: ClientPair;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const folder = stack.use(await certificateFolder());
  await folder.place('a', ['a.example']);
  const authorities = await Promise.all(
    ['one.ca', 'other.ca'].map((name) => makeKeyPair({ names: [name], authority: true })),
  );
  const [by, other] = authorities;
  if (by === undefined || other === undefined) throw new Error('no authorities');
  proven = await makeKeyPair({ names: ['billing.acme.example'], by });
  twoNames = await makeKeyPair({ names: ['one.acme.example', 'two.acme.example'], by: other });
  unproven = await makeKeyPair({ names: ['billing.acme.example'] });
  // As `cat` puts files together that end without a line end.
  await writeFile(join(folder.path, 'b.crt'), authorities.map(({ cert }) => cert.trim()).join(''));
  environment = { ECHO: echo.url, ISSUER: issuer.url, CERTS: folder.path };
  gateway = stack.use(
    await runGateway({ config: 'callers/gateway.yaml', policies: 'callers/policies', environment }),
  );
  client = stack.use(overHttp1(gateway.https));
  write = adminWriter(stack.use(overHttp1(gateway.admin, { tls: false })), await gateway.adminToken());
});
afterAll(() => stack.disposeAsync());

const ask = (path: string, headers: Fields = {}, { method = 'GET', over = client } = {}): Promise<Answer> =>
  over.ask({ path, method, headers: { host: 'a.example', ...headers } });

interface MadeKey {
  readonly secret: string;
  readonly id: string;
}

async function makeKey(consumer: string, more: Readonly<Record<string, unknown>> = {}): Promise<MadeKey> {
  const made = await write({ method: 'POST', path: '/-/keys', body: { consumer, ...AUTHOR, ...more } });
  const { key, secret } = made.json as { readonly key: { readonly id: string }; readonly secret: string };
  expect(made).toMatchObject({ status: 201, headers: { location: `/-/keys/${key.id}` } });
  return { secret, id: key.id };
}

const bearer = async (claims: Readonly<Record<string, unknown>>) => ({
  authorization: `Bearer ${await issuer.sign(claims)}`,
});
const challengesOf = ({ lines }: Answer) =>
  lines.filter(([name]) => name === 'www-authenticate').map(([, value]) => value);
const logged = (answer: Answer) => gateway.accessLine(answer.headers['x-request-id']);
/** What the upstream saw under any spelling of a name. */
const seen = (answer: Answer, pattern: RegExp) =>
  (answer.json.headers as readonly (readonly [string, string])[]).filter(([name]) => pattern.test(name));

describe('an API key', () => {
  it('AUTH-3: opens what its scopes open, and no upstream sees it', async () => {
    const { secret } = await makeKey('acme', { scopes: ['orders:read'], contact: 'api@acme.example' });
    const answer = await ask('/api/v1/orders', { 'x-api-key': secret });
    expect(answer.status).toBe(200);
    expect(seen(answer, /key/i)).toEqual([]);
    expect(seen(answer, /^x.consumer/i)).toEqual([
      ['x-consumer-id', 'acme'],
      ['x-consumer-scopes', 'orders:read'],
    ]);
    expect(await logged(answer)).toMatchObject({ consumer: 'acme', status: 200 });
  });

  it('is shown once: no list, no audit and no log has it', async () => {
    const { secret, id } = await makeKey('globex', { expires: '2099-01-01' });
    const list = await overAdmin('/-/keys');
    expect(list.text).not.toContain(secret.slice(-39));
    expect(list.json.keys).toContainEqual(
      expect.objectContaining({ id, consumer: 'globex', state: 'active', expires: '2099-01-01T00:00:00Z' }),
    );
    await ask('/api/v1/orders', { 'x-api-key': secret });
    expect(gateway.log).toContainEqual(
      expect.objectContaining({
        message: 'admin write done',
        audit: expect.objectContaining({ action: 'add_key', subject: 'globex', ...AUTHOR }),
      }),
    );
    expect(gateway.logText()).not.toContain(secret.slice(-39));
  });

  it('is rotated with an overlap in which both work, and revoked at once', async () => {
    const { secret, id } = await makeKey('initech', { scopes: ['orders:read'] });
    const asking = Array.from({ length: 40 }, () => ask('/api/v1/orders', { 'x-api-key': secret }));
    const rotated = await write({
      method: 'POST',
      path: `/-/keys/${id}/rotate`,
      body: { overlap: '1h', ...AUTHOR },
    });
    for (const { status } of await Promise.all(asking)) expect(status).toBe(200);
    expect(rotated.json.takenBy).toEqual(['news', 'orders']);
    const next = String(rotated.json.secret);
    expect(next).not.toBe(secret);
    for (const each of [secret, next])
      expect((await ask('/api/v1/orders', { 'x-api-key': each })).status).toBe(200);

    const revoked = await write({ method: 'DELETE', path: `/-/keys/${id}`, body: AUTHOR });
    expect(revoked.json).toMatchObject({ key: { id, state: 'revoked' } });
    for (const each of [secret, next]) {
      const answer = await ask('/api/v1/orders', { 'x-api-key': each });
      expect(answer.status).toBe(401);
      expect(await logged(answer)).toMatchObject({ refusal: 'key_invalid', key_flaw: 'revoked' });
    }
    const again = await write({ method: 'POST', path: `/-/keys/${id}/rotate`, body: AUTHOR });
    expect(again.status).toBe(409);
  });

  it('AUTH-2: a wrong one is told no more than that, and the operator what is wrong', async () => {
    const { secret } = await makeKey('acme');
    const other = await makeKey('acme');
    const mistyped = secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0');
    const mixed = [secret.slice(0, 17), other.secret.slice(17)].join('');
    for (const [key, flaw] of [
      ['sdl_secret', 'checksum'],
      [mistyped, 'checksum'],
      [mixed, 'checksum'],
    ] as const) {
      const answer = await ask('/api/v1/orders', { 'x-api-key': key });
      expect(answer).toMatchObject({ status: 401, json: { message: 'The API key is not valid.' } });
      expect(challengesOf(answer)).toEqual(CHALLENGES);
      expect(await logged(answer)).toMatchObject({ refusal: 'key_invalid', key_flaw: flaw });
    }
    const twice = await ask('/api/v1/orders', { 'x-api-key': [secret, secret] });
    expect(twice).toMatchObject({
      status: 400,
      json: { message: 'The X-API-Key header is malformed: send one line with one key.' },
    });
    expect(challengesOf(twice)).toEqual(CHALLENGES);
    expect(await logged(twice)).toMatchObject({ refusal: 'credentials_malformed' });
  });

  it('ORD-4: may be sent by the pages that may call', async () => {
    const { headers } = await ask(
      '/api/v1/orders',
      {
        origin: 'https://app.example.com',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'x-api-key, x-evil',
      },
      { method: 'OPTIONS' },
    );
    expect(headers['access-control-allow-headers']).toBe('x-api-key');
  });

  it('AUTH-1: one in the query is refused and logged nowhere', async () => {
    const { secret } = await makeKey('acme', { scopes: ['orders:read'] });
    const answer = await ask(`/api/v1/orders?api_key=${secret}`, { 'x-api-key': secret });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain(secret);
    expect(await logged(answer)).toMatchObject({ refusal: 'credentials_in_url' });
    expect(gateway.logText()).not.toContain(secret);
  });

  it('is made, listed, rotated and revoked from the command line', async () => {
    const sundial = async (ask: KeysAsk, format: 'text' | 'json' = 'text') => {
      const environment = { SUNDIAL_ADMIN_TOKEN: await gateway.adminToken() };
      const admin = `http://127.0.0.1:${gateway.admin}`;
      const result = await runKeys({ config: 'x', admin, environment, now: Date.now(), format, ask });
      expect(result).toMatchObject({ exitCode: 0, stderr: '' });
      return result.stdout;
    };
    const made = await sundial({
      ...{ kind: 'add', consumer: 'umbrella', scopes: ['orders:read'], ...AUTHOR },
      ...{ contact: 'api@umbrella.example', expires: '2099-01-01' },
    });
    const [secret = '', , told = ''] = made.split('\n');
    const [, id = ''] = /^The key (\w+) of umbrella for orders:read\./.exec(told) ?? [];
    expect((await ask('/api/v1/orders', { 'x-api-key': secret })).status).toBe(200);

    const rotated = JSON.parse(await sundial({ kind: 'rotate', id, overlap: '2h', ...AUTHOR }, 'json'));
    expect(rotated).toMatchObject({ key: { id, overlap: expect.any(String) } });
    expect((await ask('/api/v1/orders', { 'x-api-key': rotated.secret })).status).toBe(200);
    const list = await sundial({ kind: 'list' });
    expect(list).toMatch(
      new RegExp(`^${id}  active   umbrella for orders:read, .*until 2099-01-01, api@umb`, 'm'),
    );
    expect(list).not.toContain(secret.slice(-39));
    expect(await sundial({ kind: 'revoke', id, ...AUTHOR })).toContain(`Revoked the key ${id} of umbrella`);
    expect((await ask('/api/v1/orders', { 'x-api-key': rotated.secret })).status).toBe(401);
  });

  it.each([
    [{ consumer: 'acme' }, 400],
    [{ consumer: 'acme', scope: ['a'], ...AUTHOR }, 400],
    [{ consumer: 'acme', scopes: ['a b'], ...AUTHOR }, 400],
    [{ consumer: 'acme', contact: 'nobody', ...AUTHOR }, 400],
    [{ consumer: 'acme', contact: 'api\u202E@acme.example', ...AUTHOR }, 400],
    [{ consumer: 'acme', expires: '2020-01-01', ...AUTHOR }, 422],
  ])('a body such as %j makes none', async (body, status) => {
    expect((await write({ method: 'POST', path: '/-/keys', body })).status).toBe(status);
  });

  it('what is no public part of a key is not found, a whole key by mistake included', async () => {
    const { secret } = await makeKey('acme');
    for (const id of ['0000000000', secret, '0123456789ab'])
      expect((await write({ method: 'DELETE', path: `/-/keys/${id}`, body: AUTHOR })).status).toBe(404);
    expect(gateway.logText()).not.toContain(secret.slice(-39));
  });
});

describe('several ways of knowing who calls', () => {
  it('the first credential by the order of the API says who calls', async () => {
    const { secret } = await makeKey('by-key', { scopes: ['orders:read'] });
    const token = await bearer({ client_id: 'by-token', scope: 'orders:read' });
    await using known = overHttp1(gateway.https, { pair: proven });
    const asked = async (headers: Fields) => logged(await ask('/api/v1/orders', headers, { over: known }));
    expect(await asked({ ...token, 'x-api-key': secret })).toMatchObject({ consumer: 'by-token' });
    expect(await asked({ 'x-api-key': secret })).toMatchObject({ consumer: 'by-key' });
    expect(await asked({})).toMatchObject({ consumer: 'billing.acme.example' });
  });

  it('a wrong one never falls through to the next', async () => {
    const { secret } = await makeKey('by-key', { scopes: ['orders:read'] });
    const wrong = await ask('/api/v1/orders', { authorization: 'Bearer a.b.c', 'x-api-key': secret });
    expect(wrong.status).toBe(401);
    expect(await logged(wrong)).toMatchObject({ refusal: 'token_invalid' });
    expect(challengesOf(wrong)[0]).toBe(
      `Bearer realm="orders", error="invalid_token", error_description="The access token is not valid"`,
    );
  });

  it('AUTH-2: nobody is told every way in, and no error', async () => {
    const answer = await ask('/api/v1/orders');
    expect(answer.status).toBe(401);
    expect(challengesOf(answer)).toEqual(CHALLENGES);
    expect(await logged(answer)).toMatchObject({ refusal: 'credentials_missing' });
  });

  it('a version has ways of its own, and an operation may be open', async () => {
    const { secret } = await makeKey('by-key', { scopes: ['orders:read'] });
    const answer = await ask('/api/v2/orders', { 'x-api-key': secret });
    expect(answer.status).toBe(401);
    expect(challengesOf(answer)).toEqual(CHALLENGES.slice(0, 1));
    expect((await ask('/api/v2/orders', await bearer({ scope: '' }))).status).toBe(200);
    expect((await ask('/api/v2/orders/health')).status).toBe(200);
  });

  it('least privilege: what no rule speaks of is refused to everybody, and any is said', async () => {
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
  it('pass where that is said and no scope is needed, counted by their address', async () => {
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

  it('are not those with a wrong one', async () => {
    expect((await ask('/api/v1/news', { 'x-api-key': 'sdl_wrong' })).status).toBe(401);
    expect((await ask('/api/v1/news', { authorization: 'Bearer a.b.c' })).status).toBe(401);
  });
});

describe('a client certificate', () => {
  it.each([
    ['HTTP/1.1', overHttp1],
    ['HTTP/2', overHttp2],
  ])('over %s: one that is proven says who calls, and none other does', async (_, over) => {
    await using known = over(gateway.https, { pair: proven });
    const answer = await ask('/api/v1/orders', { 'x-consumer-id': 'forged' }, { over: known });
    expect(answer.status).toBe(200);
    expect(seen(answer, /^x.consumer/i)).toEqual([
      ['x-consumer-id', 'billing.acme.example'],
      ['x-consumer-scopes', 'orders:read'],
    ]);
    await using stranger = over(gateway.https, { pair: unproven });
    const missing = await ask('/api/v1/orders', {}, { over: stranger });
    expect(missing.status).toBe(401);
    expect(await logged(missing)).toMatchObject({ refusal: 'credentials_missing' });
  });

  it.each([
    ['HTTP/1.1', overHttp1],
    ['HTTP/2', overHttp2],
  ])(
    'JWT-6: over %s: a token bound to a certificate is taken from whoever shows that one',
    async (_, over) => {
      const { raw } = new X509Certificate(proven.cert);
      const thumbprint = createHash('sha256').update(raw).digest('base64url');
      const bound = await bearer({
        cnf: { 'x5t#S256': thumbprint },
        client_id: 'bound',
        scope: 'orders:read',
      });
      await using known = over(gateway.https, { pair: proven });
      const answer = await ask('/api/v1/orders', bound, { over: known });
      expect(answer.status).toBe(200);
      expect(await logged(answer)).toMatchObject({ consumer: 'bound' });

      const sameKey = await bearer({ cnf: { 'x5t#S256': thumbprint, jkt: 'a' }, scope: 'orders:read' });
      await using other = over(gateway.https, { pair: twoNames });
      await using stranger = over(gateway.https, { pair: unproven });
      for (const [client_, token] of [
        [client, bound],
        [other, bound],
        [stranger, bound],
        [known, sameKey],
      ] as const) {
        const refused = await ask('/api/v1/orders', token, { over: client_ });
        expect(refused.status).toBe(401);
        expect(challengesOf(refused)[0]).toContain('error="invalid_token"');
        expect(await logged(refused)).toMatchObject({ refusal: 'token_invalid', token_flaw: 'binding' });
      }
    },
  );

  it('XFF-1: one that is told of in a header is nobody’s, and no upstream hears of it', async () => {
    const said = proven.cert.replaceAll('\n', '');
    const forged = {
      'client-cert': `:${Buffer.from(new X509Certificate(proven.cert).raw).toString('base64')}:`,
      'client-cert-chain': ':AA==:',
      'x-client-cert': said,
      'x-forwarded-client-cert': `By=a;Hash=b;Subject="CN=billing.acme.example"`,
      'x-forwarded-for': '127.0.0.1',
      'x-consumer-id': 'billing.acme.example',
    };
    const refused = await ask('/api/v1/orders', forged);
    expect(refused.status).toBe(401);
    expect(await logged(refused)).toMatchObject({ refusal: 'credentials_missing' });
    const { secret } = await makeKey('by-key', { scopes: ['orders:read'] });
    const answer = await ask('/api/v1/orders', { ...forged, 'x-api-key': secret });
    expect(seen(answer, /cert/i)).toEqual([]);
    expect(seen(answer, /^x.consumer/i)).toContainEqual(['x-consumer-id', 'by-key']);
  });

  it('one that names several is refused, whatever comes behind it in the order', async () => {
    await using several = overHttp1(gateway.https, { pair: twoNames });
    const answer = await ask('/api/v1/orders', {}, { over: several });
    expect(answer.status).toBe(401);
    expect(await logged(answer)).toMatchObject({ refusal: 'certificate_invalid' });
  });

  it('where one is required, a handshake without it comes to nothing', async () => {
    await using strict = await runGateway({
      config: 'callers/gateway.yaml',
      policies: 'callers/policies',
      environment: { ...environment, CLIENTS: 'required' },
    });
    await using known = overHttp1(strict.https, { pair: proven });
    expect((await ask('/api/v1/orders', {}, { over: known })).status).toBe(200);
    for (const shown of [{}, { pair: unproven }]) {
      await using refused = overHttp1(strict.https, shown);
      await expect(ask('/api/v1/orders', {}, { over: refused })).rejects.toThrow();
    }
  });
});

describe('protected-resource metadata', () => {
  it.each([
    ['', 'https://a.example', ['news:write', 'orders:import', 'orders:read']],
    ['/api/orders', 'https://a.example/api/orders', ['orders:import', 'orders:read']],
    ['/api/news', 'https://a.example/api/news', ['news:write']],
  ])('RFC 9728: at …%s is that of %s', async (path, resource, scopes) => {
    const answer = await ask(`/.well-known/oauth-protected-resource${path}`);
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': expect.stringMatching(/json/) } });
    expect(answer.json).toEqual({
      resource,
      authorization_servers: [issuer.url],
      scopes_supported: scopes,
      bearer_methods_supported: ['header'],
    });
  });

  it('RFC 9728: nothing is published of what is no resource', async () => {
    for (const path of ['/', '/api/orders/', '/api/others'])
      expect((await ask(`/.well-known/oauth-protected-resource${path}`)).status).toBe(404);
  });
});

function overAdmin(path: string): Promise<Answer> {
  return stack.use(overHttp1(gateway.admin, { tls: false })).ask({ path });
}
