// Reloads through the admin API with their findings, and readiness.
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operate } from '../support/command.ts';
import { overHttp1 } from '../support/http-client.ts';
import { freePorts } from '../support/ports.ts';
import { type ConfiguredFixture, openConfigured } from './admin-config/fixture.ts';

const stack = new AsyncDisposableStack();
let fixture: ConfiguredFixture;
beforeAll(async () => {
  fixture = stack.use(await openConfigured());
});
afterAll(() => stack.disposeAsync());

const sundial = (words: readonly string[]) =>
  operate([...words, '--admin', `http://127.0.0.1:${fixture.gateway.admin}`], {
    environment: { SUNDIAL_ADMIN_TOKEN: fixture.token },
  });

/** The file watcher may reload before the request does. */
const TAKEN = expect.stringMatching(/^(accepted|unchanged)$/);

describe('POST /-/reload', () => {
  it('answers "unchanged" with the revision if no file has changed', async () => {
    expect(await fixture.reload()).toMatchObject({
      status: 200,
      json: { outcome: 'unchanged', revision: await fixture.revision(), problems: [], restartNeeded: false },
    });
  });

  it('applies a new policy, and answers with the new revision', async () => {
    const before = await fixture.revision();
    await fixture.write(`${fixture.policy}mode: observe\nlimits: { rate: 600/1m, by: address }\n`);
    const answer = await fixture.reload();
    expect(answer).toMatchObject({ status: 200, json: { outcome: TAKEN } });
    expect(answer.json.revision).toBe(await fixture.revision());
    expect(answer.json.revision).not.toBe(before);
    expect((await fixture.config()).documents[1]?.values).toMatchObject({
      mode: 'observe',
      limits: { rate: '600/1m' },
    });
  });

  it('gets 422 with all problems if policies have errors; the policies in force stay', async () => {
    const before = await fixture.config();
    await fixture.write(`${fixture.policy.replace('access: public', 'acess: public')}mode: obsrve\n`);
    const answer = await fixture.reload();
    expect(answer).toMatchObject({
      status: 422,
      json: {
        error: 'Unprocessable Content',
        message: 'The policies have errors. The gateway keeps the policies that are in force.',
        outcome: 'rejected',
        revision: before.revision,
      },
    });
    expect(answer.json.problems).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          line: 5,
          column: 1,
          severity: 'error',
          rule: 'unknown-key',
          hint: 'did you mean "access"?',
        }),
        expect.objectContaining({ line: fixture.policy.split('\n').length, severity: 'error' }),
      ]),
    );
    expect(answer.text).not.toContain('"source"');
    const { error: _error, message: _message, ...outcome } = answer.json;
    const kept = await fixture.ask('GET', '/-/reload');
    expect(kept).toMatchObject({ status: 200, json: { last: { at: expect.any(String), ...outcome } } });
    expect(await fixture.config()).toEqual(before);
    await fixture.write(fixture.policy);
    expect(await fixture.reload()).toMatchObject({ status: 200, json: { outcome: TAKEN } });
  });

  it('requires the token, rejects a foreign Origin and Host, and is audited', async () => {
    expect((await fixture.reload({})).status).toBe(401);
    expect(
      (await fixture.reload({ authorization: `Bearer ${fixture.token}`, origin: 'https://evil.example' }))
        .status,
    ).toBe(403);
    expect(
      (await fixture.reload({ authorization: `Bearer ${fixture.token}`, host: 'evil.example' })).status,
    ).toBe(421);
    await fixture.reload();
    const audits = fixture.gateway.log.filter(({ audit }) => audit !== undefined).slice(-3);
    expect(audits).toMatchObject([
      { message: 'admin write unauthorised', audit: { action: 'reload', from: '127.0.0.1' } },
      { message: 'admin write unauthorised', audit: { action: 'reload', from: '127.0.0.1' } },
      {
        message: 'admin write done',
        audit: {
          action: 'reload',
          subject: 'policies',
          after: { outcome: 'unchanged', revision: await fixture.revision() },
        },
      },
    ]);
    expect(
      await fixture.gateway.metric('sundial_admin_writes_total{action="reload",outcome="refused"}'),
    ).toBe(1);
  });
});

/** Responds like a gateway in a state that a test cannot hold. Returns its origin. */
async function answering(
  answer: (method: string) => readonly [status: number, body: unknown],
): Promise<string> {
  const server = createServer((request, response) => {
    const [status, body] = answer(request.method ?? '');
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => new Promise((resolve) => void server.close(() => resolve())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('sundial reload', () => {
  it('exits with 0 if the files take effect, or with 1 and their errors', async () => {
    await fixture.write(fixture.policy.replace('/echo', '/other'));
    const taken = await sundial(['reload']);
    expect(taken).toMatchObject({ exitCode: 0, stderr: '' });
    expect(taken.stdout).toMatch(
      /^(policies reloaded|nothing to reload: the files are already in force, since [-0-9T:]{19}Z), revision [0-9a-f]{64}\n$/,
    );
    await fixture.write(fixture.policy.replace('access: public', ''));
    const rejected = await sundial(['reload']);
    expect(rejected.exitCode).toBe(1);
    expect(rejected.stdout).toMatch(/orders\.yaml:\d+:\d+: error: no access rule/);
    expect(rejected.stdout).toMatch(
      /\nnot reloaded: 1 error; the policies in force stay, revision [0-9a-f]{64}\n$/,
    );
    const { exitCode, stdout } = await sundial(['reload', '--format', 'json']);
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'rejected', problems: [{ severity: 'error' }] });
    await fixture.write(fixture.policy);
    await fixture.reload();
  });

  const ANSWER = { revision: 'abc', restartNeeded: false, problems: [] };
  it.each([
    [200, { ...ANSWER, outcome: 'accepted' }, 0, 'policies reloaded, revision abc\n'],
    [
      200,
      { ...ANSWER, outcome: 'unchanged', since: '2026-11-21T19:40:02.123Z', restartNeeded: true },
      0,
      'nothing to reload: the files are already in force, since 2026-11-21T19:40:02Z, revision abc\nthe gateway file has changed too; restart to apply it\n',
    ],
    [
      200,
      { ...ANSWER, outcome: 'unchanged' },
      0,
      'nothing to reload: the files are already in force, revision abc\n',
    ],
    [500, { ...ANSWER, outcome: 'failed', error: 'Internal Server Error', message: 'It failed.' }, 1, ''],
  ])('for the response %i %j exits with %i', async (status, body, exitCode, stdout) => {
    const origin = await answering((method) =>
      method === 'POST' ? [status, body] : [200, { status: 'healthy' }],
    );
    const environment = { SUNDIAL_ADMIN_TOKEN: fixture.token };
    expect(await operate(['reload', '--admin', origin], { environment })).toMatchObject({ exitCode, stdout });
  });

  it('without the token exits with 2', async () => {
    const ended = await operate(['reload', '--admin', `http://127.0.0.1:${fixture.gateway.admin}`]);
    expect(ended).toMatchObject({ exitCode: 2, stdout: '' });
  });
});

describe('sundial status', () => {
  it('prints one line and exits with 0 if the gateway is ready, without a token', async () => {
    const { exitCode, stdout } = await operate([
      'status',
      '--admin',
      `http://127.0.0.1:${fixture.gateway.admin}`,
    ]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^ready: store embedded up, plan [0-9a-f]{12}, at http:\/\/127\.0\.0\.1:\d+\n$/);
    const json = await operate([
      'status',
      '--format',
      'json',
      '--admin',
      `http://127.0.0.1:${fixture.gateway.admin}`,
    ]);
    expect(json.stdout.split('\n')).toHaveLength(2);
    expect(JSON.parse(json.stdout)).toMatchObject({
      status: 'ready',
      store: { kind: 'embedded', state: 'up' },
    });
  });

  it.each(['starting', 'draining'])('exits with 1 while the gateway is %s', async (state) => {
    const body = { status: state, store: { kind: 'redis', state: 'down' }, plan: null };
    const origin = await answering(() => [503, body]);
    expect(await operate(['status', '--admin', origin])).toEqual({
      exitCode: 1,
      stdout: `${state}: store redis down, plan none yet, at ${origin}\n`,
      stderr: '',
    });
  });

  it('says "not ready" and exits with 1 while the store is down', async () => {
    const origin = await answering(() => [
      200,
      { status: 'ready', store: { kind: 'redis', state: 'down' }, plan: 'a'.repeat(64) },
    ]);
    expect(await operate(['status', '--admin', origin])).toEqual({
      exitCode: 1,
      stdout: `not ready: store redis down, plan ${'a'.repeat(12)}, at ${origin}\n`,
      stderr: '',
    });
  });

  it('names the targets whose calls fail, in text and in JSON', async () => {
    // Nothing listens at the address of its service.
    await using own = await openConfigured();
    await using client = overHttp1(own.gateway.https);
    for (let call = 0; call < 5; call += 1)
      expect((await client.ask({ path: '/api/v1/orders' })).status).toBe(502);
    const words = ['status', '--admin', `http://127.0.0.1:${own.gateway.admin}`];
    const { exitCode, stdout } = await operate(words);
    expect([exitCode, stdout.split('\n')[1]]).toEqual([0, expect.stringContaining('100 % of the calls')]);
    const { stdout: json } = await operate([...words, '--format', 'json']);
    expect(JSON.parse(json)).toMatchObject({ status: 'ready', failing: [{ target: 'http://127.0.0.1:9' }] });
  });

  it('exits with 3 if nothing answers, or if the server is not a Sundial gateway', async () => {
    const [port] = await freePorts(1);
    expect(await operate(['status', '--admin', `http://127.0.0.1:${port}`])).toEqual({
      exitCode: 3,
      stdout: '',
      stderr: `sundial: no gateway answers at http://127.0.0.1:${port}: the connection was refused\n`,
    });
    const origin = await answering(() => [200, { hello: 'world' }]);
    expect(await operate(['status', '--admin', origin])).toMatchObject({
      exitCode: 3,
      stderr: `sundial: the server at ${origin} is not a Sundial gateway\n`,
    });
  });

  it.each([
    [
      'the metrics listener before the admin listener',
      'admin: { address: "127.0.0.1:ADMIN" }, metrics: { address: ":PORT" }',
      0,
    ],
    ['the admin listener if it has no metrics listener', 'admin: { address: "127.0.0.1:PORT" }', 0],
    ['no listener, and exits with 2', 'http: { address: "127.0.0.1:0" }', 2],
  ])('with the gateway file uses %s', async (_name, listeners, exitCode) => {
    const ready = await answering(() => [
      200,
      { status: 'ready', store: { kind: 'embedded', state: 'up' }, plan: 'a'.repeat(64) },
    ]);
    const file = join(fixture.folder, 'status.yml');
    const [admin] = await freePorts(1);
    const written = listeners.replace('PORT', new URL(ready).port).replace('ADMIN', String(admin));
    await writeFile(
      file,
      `public: https://127.0.0.1\nlisteners: { https: { address: "127.0.0.1:0" }, ${written} }\npolicies: ${fixture.folder}/*.yaml\n`,
    );
    const ended = await operate(['status', '-c', file]);
    expect(ended.exitCode).toBe(exitCode);
    expect(ended.stdout).toBe(
      exitCode === 0 ? `ready: store embedded up, plan aaaaaaaaaaaa, at ${ready}\n` : '',
    );
  });
});
