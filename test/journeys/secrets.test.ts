// No secret appears in logs, metrics, responses of the gateway or the shown configuration.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCheck } from '../../gateway/cli/check/check.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { adminWriter } from '../support/admin-write.ts';
import { operate } from '../support/command.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Ask, overHttp1, overHttp2 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { freePorts } from '../support/ports.ts';
import { head, sendBytes } from '../support/raw-client.ts';

const stack = new AsyncDisposableStack();
const CONFIG = join(import.meta.dirname, 'secrets/gateway.yaml');
const ADMIN_TOKEN = 'canary-admin-token-of-thirty-two-characters';
/** The name of every secret. Readers can decode base64 and percent-encoding, so these count too. */
const CANARY = /canary|Y2FuYXJ5|%63%61%6e/i;
let environment: Readonly<Record<string, string>> = {};
let issuer: TestIssuer;
let gateway: RunningGateway;
/** Responses of the gateway to clients and operators, and output of commands, for the search. */
const said: string[] = [];

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  issuer = stack.adopt(await startTestIssuer(), (running) => running.close());
  const policies = join(import.meta.dirname, 'secrets/policies');
  environment = {
    ECHO: echo.url,
    ISSUER: issuer.url,
    ADMIN_TOKEN,
    STORE_PASSWORD: 'canary-store-password',
    NO_REDIS: String((await freePorts(1))[0]),
    HEADER: 'canary-header-from-outside',
    UNUSED: 'canary-in-the-environment',
    DATA: stack.adopt(await mkdtemp(join(tmpdir(), 'sundial-secrets-')), (made) =>
      rm(made, { recursive: true }),
    ),
    POLICIES: join(policies, '*.yaml'),
  };
  gateway = stack.use(await runGateway({ config: CONFIG, policies, environment }));
});
afterAll(() => stack.disposeAsync());

it('the service receives the secrets of the policy and of the client', async () => {
  const token = await issuer.sign({ scope: 'orders:read orders:write', email: 'canary-claim@example.com' });
  for (const reach of [overHttp1, overHttp2]) {
    await using client = reach(gateway.https);
    const { status, text } = await client.ask({
      method: 'POST',
      path: '/api/v1/orders/7?password=canary-query&token=canary-query',
      headers: {
        authorization: `Bearer ${token}`,
        cookie: 'session=canary-cookie',
        'x-api-token': 'canary-header',
      },
      body: '{"card":"canary-body"}',
    });
    expect(status).toBe(200);
    for (const secret of [
      'canary-query',
      'canary-cookie',
      'canary-header-from-outside',
      'canary-written-header',
    ])
      expect(text).toContain(secret);
  }
});

it('requests with secrets get errors from the gateway, which are searched below', async () => {
  const token = await issuer.sign({ scope: 'orders:read', email: 'canary-claim@example.com', sub: 'acme' });
  const forged = await issuer.sign({ scope: 'canary-scope', aud: 'canary-audience', jti: 'canary-jti' });
  const secret = {
    cookie: 'session=canary-cookie',
    'x-api-key': 'canary-header',
    authorization: `Bearer ${token}`,
  };
  const asks: readonly (readonly [status: number, ask: Ask])[] = [
    [404, { path: '/nowhere?key=canary-query', headers: secret }],
    [400, { path: '/api/v2/orders?access_token=canary-query', headers: secret }],
    [401, { path: '/api/v1/orders', headers: { ...secret, authorization: 'Bearer canary.canary.canary' } }],
    [401, { path: '/api/v1/orders', headers: { ...secret, authorization: `Bearer ${forged}` } }],
    [400, { path: '/api/v1/orders', headers: { ...secret, authorization: 'Bearer canary one two' } }],
    [401, { path: '/api/v1/orders', headers: { authorization: 'Basic Y2FuYXJ5OmNhbmFyeQ==' } }],
    [403, { method: 'POST', path: '/api/v1/orders', headers: secret, body: 'canary-body' }],
    [404, { path: '/api/canary9/orders', headers: secret }],
    [502, { path: '/api/v2/orders?q=canary-query', headers: secret }],
  ];
  for (const reach of [overHttp1, overHttp2]) {
    await using client = reach(gateway.https);
    for (const [status, ask] of asks) {
      const answer = await client.ask(ask);
      expect([ask.path, answer.status]).toEqual([ask.path, status]);
      said.push(JSON.stringify(answer.lines), answer.text);
    }
  }
  for (const bytes of [
    head('GET /api/v1/orders HTTP/1.1', 'Host: 127.0.0.1', 'Host: canary.example', 'Connection: close'),
    head('canary /canary HTTP/1.1', 'Host: 127.0.0.1', 'Connection: close'),
    head(
      'GET /api/v1/orders HTTP/1.1',
      'Host: 127.0.0.1',
      'Authorization: Bearer canary\u0001',
      'Connection: close',
    ),
  ]) {
    const { status, text } = await sendBytes(gateway.https, bytes);
    expect(status).toBeGreaterThanOrEqual(400);
    said.push(text);
  }
});

it('operators get pages and command output with [redacted], which are searched below', async () => {
  await using admin = overHttp1(gateway.admin, { tls: false });
  await using metrics = overHttp1(gateway.metrics, { tls: false });
  const write = adminWriter(admin, ADMIN_TOKEN);
  for (const path of [
    '/-/config',
    '/-/overrides',
    '/-/ready',
    '/metrics',
    '/-/pins/canary/canary',
    '/canary',
  ])
    said.push((await admin.ask({ path })).text);
  said.push((await metrics.ask({ path: '/metrics' })).text, (await metrics.ask({ path: '/canary' })).text);
  const config = (await admin.ask({ path: '/-/config' })).json;
  expect(config).toMatchObject({ revision: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(JSON.stringify(config)).toContain('[redacted]');

  const pause = { method: 'POST', path: '/-/pauses' };
  const writes = [
    { ...pause, body: '{"api":"canary' },
    { ...pause, body: { api: 'orders' }, headers: { authorization: 'Bearer canary-of-a-wrong-admin-token' } },
    {
      ...pause,
      body: { api: 'orders', for: '1h', by: 'maria', why: 'see https://x.example/?key=canary-query' },
    },
    { method: 'POST', path: '/-/reload', body: '{}' },
  ];
  for (const asked of writes) said.push((await write(asked)).text);

  const around = { environment, cwd: import.meta.dirname };
  const commands = [
    ['config', 'show', '--defaults', '--origin'],
    ['config', 'show', '--format', 'json'],
    ['config', 'show', 'orders', '--defaults'],
  ];
  for (const words of commands) {
    const { exitCode, stdout, stderr } = await operate([...words, '-c', CONFIG], around);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('[redacted]');
    said.push(stdout, stderr);
  }
  const origin = `http://127.0.0.1:${gateway.admin}`;
  for (const words of [['status'], ['reload'], ['pause', 'orders', '--for', '1h', '--why', 'x']]) {
    const ended = await operate([...words, '--admin', origin], {
      environment: { SUNDIAL_ADMIN_TOKEN: ADMIN_TOKEN },
    });
    said.push(ended.stdout, ended.stderr);
  }
});

it('`check` rejects files with secrets in every format; its output is searched below', async () => {
  const broken = join(environment.DATA ?? '', 'gateway.yaml');
  await writeFile(
    broken,
    `public: "\${env:STORE_PASSWORD}"
listeners: { https: { address: "\${env:HEADER}" }, admin: { address: "127.0.0.1:0", token: canary-short } }
store: "redis://:canary-in-clear@127.0.0.1:1/x"
policies: ${environment.POLICIES}
`,
  );
  for (const configFile of [CONFIG, broken])
    for (const format of ['text', 'json', 'github'] as const) {
      const { text, exitCode } = await runCheck({
        files: [],
        configFile,
        format,
        strict: true,
        live: { today: Date.now() },
        environment,
        now: Date.UTC(2026, 10, 20),
        colour: false,
      });
      expect(exitCode).toBe(1);
      said.push(text);
    }
});

it('no collected response, output or log line contains a secret', () => {
  expect(said.length).toBeGreaterThan(40);
  for (const text of said) expect(text).not.toMatch(CANARY);
  // A logged path may have the word: it is no secret there, and a query is never logged.
  const logged = gateway.logText().replaceAll(/"path":"\/(api\/)?canary[^"]*"/g, '');
  expect(logged).toContain('"log":"access"');
  expect(logged).not.toMatch(CANARY);
});
