// The sample issuer and its token command as a user runs them: processes, key file, accepted tokens.
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTokenVerifier } from '../../gateway/identity/authenticators.ts';
import { type Issuer, startIssuer } from '../../upstreams/identity/server.ts';
import { ISSUER, openBrowser, post, redemption, STOREFRONT, walk } from '../support/oauth-walk.ts';
import { freePorts } from '../support/ports.ts';

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

beforeAll(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'sundial-issuer-'));
  issuer = await startIssuer({ port: 0, dataFolder, issuer: ISSUER });
});
afterAll(async () => {
  await issuer.close();
  await rm(dataFolder, { recursive: true });
});

async function verify(token: string, from: Issuer = issuer) {
  const verifier = createTokenVerifier(
    {
      kind: 'jwt',
      name: 'main',
      issuer: from.issuer,
      audience: 'sundial-samples',
      jwksUrl: `${from.endpoint}/.well-known/jwks.json`,
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

describe('the token command', () => {
  it('prints a token for acme with the scopes of all samples, which the gateway accepts', async () => {
    expect(await verify(await printToken(dataFolder, issuer.port))).toEqual({
      kind: 'consumer',
      consumer: {
        id: 'acme',
        mayLabelMetrics: true,
        via: 'token',
        scopes: new Set(SCOPES),
        claims: expect.objectContaining({ account_created: '2025-03-14' }),
      },
    });
  });

  it('prints a token for another client by name, with the creation day of its account', async () => {
    const globex = await verify(await printToken(dataFolder, issuer.port, 'globex'));
    expect(globex).toMatchObject({ consumer: { id: 'globex', claims: { account_created: '2025-11-05' } } });
  });

  it('refuses an unknown client and lists the known ones', async () => {
    const refused = await printToken(dataFolder, issuer.port, 'nobody').catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'token: there is no client "nobody", only acme, globex, initech\n',
    });
  });

  it('reports that the issuer does not run, and how to start it', async () => {
    const [port] = await freePorts(1);
    const refused = await printToken(dataFolder, port ?? 0).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 3,
      stdout: '',
      stderr: `token: the sample issuer does not answer on port ${port}; \`npm start\` runs it, SUNDIAL_ISSUER_PORT says where\n`,
    });
  });
});

describe('the key', () => {
  it('is readable only by its owner, and its private part is not in the key set', async () => {
    expect((await stat(join(dataFolder, 'issuer-key.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(dataFolder, 'identity.db'))).mode & 0o777).toBe(0o600);
    const answer = await fetch(`${issuer.endpoint}/.well-known/jwks.json`);
    const { keys } = (await answer.json()) as { keys: object[] };
    expect(keys.map((key) => Object.keys(key).sort())).toEqual([['alg', 'e', 'kid', 'kty', 'n', 'use']]);
  });

  it('is the same for several issuers that start together on an empty folder', async () => {
    const options = { port: 0, dataFolder: join(dataFolder, 'fresh'), issuer: ISSUER };
    const starts = await Promise.all([1, 2, 3].map(() => startIssuer(options)));
    const sets = await Promise.all(
      starts.map(async ({ endpoint }) => (await fetch(`${endpoint}/.well-known/jwks.json`)).text()),
    );
    expect(new Set(sets).size).toBe(1);
    await Promise.all(starts.map((one) => one.close()));
  });

  it('OAU-10: is replaced by a command, and tokens of the old key stay valid after a restart', async () => {
    const before = await printToken(dataFolder, issuer.port);
    const env = { ...process.env, SUNDIAL_DATA: dataFolder };
    const rotate = () => run(process.execPath, [join(FOLDER, 'rotate-key.ts')], { env });
    const rotated = await rotate();
    const { port } = issuer;
    await issuer.close();
    issuer = await startIssuer({ port, dataFolder, issuer: ISSUER });
    const after = await printToken(dataFolder, issuer.port);
    const [old, fresh] = [before, after].map((token) => decodeProtectedHeader(token).kid ?? '');
    expect(fresh).not.toBe(old);
    expect(rotated.stdout).toContain(`The key ${fresh} signs after a restart of the identity service.`);
    for (const token of [before, after]) expect(await verify(token)).toMatchObject({ kind: 'consumer' });
    // A second replacement too soon would remove a key whose tokens are still valid.
    const key = await readFile(join(dataFolder, 'issuer-key.json'), 'utf8');
    await expect(rotate()).rejects.toMatchObject({ code: 3, stderr: expect.stringContaining('too recent') });
    expect(await readFile(join(dataFolder, 'issuer-key.json'), 'utf8')).toBe(key);
  });
});

describe('the process', () => {
  const start = async (port = '0') => {
    const env = {
      ...process.env,
      SUNDIAL_DATA: dataFolder,
      SUNDIAL_ISSUER_PORT: port,
      SUNDIAL_HTTPS_PORT: '8443',
    };
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

  it('keeps acknowledged refresh tokens, used and unused, when it is killed', async () => {
    const named = (url: string) => ({ issuer: 'https://127.0.0.1:8443/auth', endpoint: `${url}/auth`, url });
    const one = await start();
    const [port] = await freePorts(1);
    const before = named(one.printed().trim().split(' ').at(-1) ?? '');
    const browser = openBrowser(before);
    const refresh = (at: typeof before, token: unknown) =>
      post(at, '/token', { grant_type: 'refresh_token', refresh_token: String(token), ...STOREFRONT });
    const used = (await post(before, '/token', redemption(await walk(browser)))).body.refresh_token;
    const current = (await refresh(before, used)).body.refresh_token;
    one.child.kill('SIGKILL');
    await one.exit;

    const two = await start(String(port));
    const after = named(two.printed().trim().split(' ').at(-1) ?? '');
    const second = await refresh(after, current);
    expect(second.status).toBe(200);
    expect((await refresh(after, used)).body.error).toBe('invalid_grant');
    expect((await refresh(after, second.body.refresh_token)).body.error).toBe('invalid_grant');
    two.child.kill('SIGTERM');
    expect(await two.exit).toEqual({ code: 0, signal: null });
    expect(two.printed()).toBe(`ready identity http://127.0.0.1:${port}\n`);
  });
});
