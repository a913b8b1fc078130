// The sample issuer and its token command as a user meets them: processes, a key file, tokens the gateway accepts.
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTokenVerifier } from '../../gateway/identity/verifier.ts';
import { type Issuer, startIssuer } from '../../upstreams/identity/server.ts';

const run = promisify(execFile);
const FOLDER = resolve('upstreams/identity');
const SCOPES = [
  'orders:read',
  'orders:write',
  'catalog:read',
  'payments:read',
  'payments:write',
  'webhooks:read',
  'webhooks:write',
];

let dataFolder: string;
let issuer: Issuer;

beforeEach(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'sundial-issuer-'));
  issuer = await startIssuer({ port: 0, dataFolder });
});
afterEach(async () => {
  await issuer.close();
  await rm(dataFolder, { recursive: true });
});

async function verify(token: string, from: Issuer = issuer) {
  const verifier = createTokenVerifier(
    {
      kind: 'jwt',
      name: 'main',
      issuer: from.url,
      audience: 'sundial-samples',
      jwksUrl: `${from.url}/.well-known/jwks.json`,
      algorithms: ['RS256'],
      consumerClaims: ['client_id'],
      maxLifetimeSeconds: 3600,
      tokenTypes: ['at+jwt'],
      tokenCacheMs: 300_000,
    },
    { now: Date.now },
  );
  try {
    return await verifier.verify(token);
  } finally {
    verifier.close();
  }
}

const printToken = async (folder: string, port: number, ...client: readonly string[]): Promise<string> => {
  const env = { ...process.env, SUNDIAL_DATA: folder, SUNDIAL_ISSUER_PORT: `${port}` };
  return (await run(process.execPath, [join(FOLDER, 'token.ts'), ...client], { env })).stdout.trim();
};

const post = (form: Record<string, string> | string, headers: Record<string, string> = {}) =>
  fetch(`${issuer.url}/token`, { method: 'POST', body: new URLSearchParams(form), headers });

const CLIENT = { grant_type: 'client_credentials', client_id: 'acme', client_secret: 'acme-sample-secret' };
const BASIC = `Basic ${Buffer.from('acme:acme-sample-secret').toString('base64')}`;

describe('the token command', () => {
  it('prints a token for acme with the scopes of all samples, which the gateway accepts', async () => {
    expect(await verify(await printToken(dataFolder, issuer.port))).toEqual({
      kind: 'consumer',
      consumer: {
        id: 'acme',
        named: true,
        via: 'token',
        scopes: new Set(SCOPES),
        claims: expect.objectContaining({ account_created: '2025-03-14' }),
      },
    });
  });

  it('prints one of another client that is named, whose account is of another day or of none that is told', async () => {
    const globex = await verify(await printToken(dataFolder, issuer.port, 'globex'));
    expect(globex).toMatchObject({ consumer: { id: 'globex', claims: { account_created: '2025-11-05' } } });
    const initech = await verify(await printToken(dataFolder, issuer.port, 'initech'));
    expect(initech).toMatchObject({ consumer: { id: 'initech' } });
    expect(initech).not.toHaveProperty('consumer.claims.account_created');
  });

  it('knows no other, and says which there are', async () => {
    const refused = await printToken(dataFolder, issuer.port, 'nobody').catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'token: there is no client "nobody", only acme, globex, initech\n',
    });
  });

  it('and the issuer end with one key when they start together on an empty folder', async () => {
    const folder = join(dataFolder, 'fresh');
    const starts = await Promise.all([1, 2, 3].map(() => startIssuer({ port: 0, dataFolder: folder })));
    const [first, ...others] = starts;
    if (first === undefined) throw new Error('no issuer');
    const sets = await Promise.all(
      starts.map(async ({ url }) => (await fetch(`${url}/.well-known/jwks.json`)).text()),
    );
    expect(new Set(sets).size).toBe(1);
    expect(await verify(await printToken(folder, first.port), first)).toMatchObject({ kind: 'consumer' });
    expect(await readdir(folder)).toEqual(['issuer-key.json']);
    await Promise.all([first, ...others].map((one) => one.close()));
  });
});

describe('the key', () => {
  it('is readable by its owner only, and its private half is not in the set', async () => {
    expect((await stat(join(dataFolder, 'issuer-key.json'))).mode & 0o777).toBe(0o600);
    const answer = await fetch(`${issuer.url}/.well-known/jwks.json`);
    const { keys } = (await answer.json()) as { keys: object[] };
    expect(keys.map((key) => Object.keys(key).sort())).toEqual([['alg', 'e', 'kid', 'kty', 'n', 'use']]);
  });

  it('outlives a restart, and the tokens with it', async () => {
    const token = await printToken(dataFolder, issuer.port);
    const { port } = issuer;
    await issuer.close();
    issuer = await startIssuer({ port, dataFolder });
    expect(await verify(token)).toMatchObject({ kind: 'consumer' });
  });
});

describe('POST /token', () => {
  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['in the form', CLIENT, {}],
    ['by Basic', { grant_type: 'client_credentials' }, { authorization: BASIC }],
  ])('OAU-6: grants client credentials given %s', async (_name, form, headers) => {
    const answer = await post(form, headers);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const body = (await answer.json()) as { access_token: string };
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: SCOPES.join(' ') });
    expect(await verify(body.access_token)).toMatchObject({
      consumer: { id: 'acme', scopes: new Set(SCOPES) },
    });
  });

  it('OAU-6: grants no more scopes than were asked for', async () => {
    const body = (await (await post({ ...CLIENT, scope: 'orders:read' })).json()) as { access_token: string };
    expect(await verify(body.access_token)).toMatchObject({ consumer: { scopes: new Set(['orders:read']) } });
  });

  it.each<[string, Record<string, string> | string, Record<string, string>, number, string]>([
    ['a wrong secret', { ...CLIENT, client_secret: 'guess' }, {}, 401, 'invalid_client'],
    ['an unknown client', { ...CLIENT, client_id: 'nobody' }, {}, 401, 'invalid_client'],
    ['the secret of another client', { ...CLIENT, client_id: 'globex' }, {}, 401, 'invalid_client'],
    ['no client', { grant_type: 'client_credentials' }, {}, 401, 'invalid_client'],
    ['a secret given in both ways', CLIENT, { authorization: BASIC }, 401, 'invalid_client'],
    ['another grant', { ...CLIENT, grant_type: 'password' }, {}, 400, 'unsupported_grant_type'],
    ['no grant', { client_id: 'acme', client_secret: 'acme-sample-secret' }, {}, 400, 'invalid_request'],
    ['a scope the client lacks', { ...CLIENT, scope: 'orders:read admin' }, {}, 400, 'invalid_scope'],
    ['a parameter given twice', 'grant_type=client_credentials&scope=a&scope=b', {}, 400, 'invalid_request'],
    ['JSON', CLIENT, { 'content-type': 'application/json' }, 400, 'invalid_request'],
    ['a long body', { ...CLIENT, scope: 'x'.repeat(10_000) }, {}, 400, 'invalid_request'],
  ])('OAU-6: answers %s with an OAuth error', async (_name, form, headers, status, error) => {
    const answer = await post(form, headers);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({ error, error_description: expect.any(String) });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.has('www-authenticate')).toBe(status === 401);
  });

  it('answers other methods with 405 and other paths with 404', async () => {
    const wrong = await fetch(`${issuer.url}/token`);
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await fetch(`${issuer.url}/`)).status).toBe(404);
  });
});

describe('the process', () => {
  const start = async () => {
    const env = { ...process.env, SUNDIAL_DATA: dataFolder, SUNDIAL_ISSUER_PORT: '0' };
    const child = spawn(process.execPath, [join(FOLDER, 'main.ts')], {
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const exit = new Promise((done) => child.once('exit', (code, signal) => done({ code, signal })));
    let printed = '';
    child.stdout?.setEncoding('utf8');
    await new Promise<void>((ready, fail) => {
      child.stdout?.on('data', (text: string) => {
        printed += text;
        if (printed.includes('\n')) ready();
      });
      child.once('exit', () => fail(new Error('the issuer ended before it was ready')));
    });
    return { child, exit, printed: () => printed };
  };

  it.each<[string, (child: Awaited<ReturnType<typeof start>>['child']) => void]>([
    ['SIGTERM', (child) => child.kill('SIGTERM')],
    ['SIGINT', (child) => child.kill('SIGINT')],
    ['its parent going away', (child) => child.disconnect()],
  ])('says that it is ready, once, and ends cleanly on %s', async (_name, stop) => {
    const { child, exit, printed } = await start();
    expect(printed()).toMatch(/^ready identity http:\/\/127\.0\.0\.1:\d+\n$/);
    const url = printed().trim().split(' ').at(-1);
    expect((await fetch(`${url}/.well-known/jwks.json`)).status).toBe(200);
    stop(child);
    expect(await exit).toEqual({ code: 0, signal: null });
  });
});
