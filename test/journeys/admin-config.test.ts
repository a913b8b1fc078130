// The configuration that a running gateway has in force, and what the files would change.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operate } from '../support/command.ts';
import { runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';
import { freePorts } from '../support/ports.ts';
import { CONFIG, type ConfiguredFixture, openConfigured } from './admin-config/fixture.ts';

let fixture: ConfiguredFixture;
beforeAll(async () => {
  fixture = await openConfigured();
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe('GET /-/config', () => {
  it('shows the configuration with defaults, the origin of each value, and the revision', async () => {
    const shown = await fixture.config();
    expect(shown.revision).toBe(await fixture.revision());
    expect(shown.documents.map(({ file }) => file)).toEqual([
      expect.stringMatching(/admin-isolation\/gateway\.yaml$/),
      expect.stringMatching(/orders\.yaml$/),
    ]);
    const [ofGateway, ofOrders] = shown.documents;
    expect(ofGateway?.values).toMatchObject({
      public: 'https://127.0.0.1',
      listeners: { http: { mode: 'serve' } },
      replicas: 1,
    });
    expect(ofOrders?.values).toMatchObject({ api: 'orders', mode: 'enforce' });
    expect(ofOrders?.origins).toMatchObject({
      '/api': expect.stringMatching(/orders\.yaml:2$/),
      '/mode': 'default',
    });
  });

  it('is read-only: POST gets 405', async () => {
    expect(
      await fixture.ask('POST', '/-/config', { authorization: `Bearer ${fixture.token}` }),
    ).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD' },
    });
  });

  it('requires the token if the listener is not on loopback, and never shows it', async () => {
    const [port = 0] = await freePorts(1);
    const exposed = join(fixture.folder, 'exposed.yml');
    const text = await readFile(CONFIG, 'utf8');
    await writeFile(
      exposed,
      text.replace(
        'admin: { address: "127.0.0.1:0" }',
        `admin: { address: "0.0.0.0:${port}", token: "\${env:TOKEN}" }`,
      ),
    );
    const secret = 'a-token-that-the-operator-has-made-up';
    await using other = await runGateway({
      config: exposed,
      policies: fixture.folder,
      environment: { ECHO: 'http://127.0.0.1:9', TOKEN: secret },
    });
    await using admin = overHttp1(other.admin, { tls: false });
    expect((await admin.ask({ path: '/-/config' })).status).toBe(401);
    const answer = await admin.ask({ path: '/-/config', headers: { authorization: `Bearer ${secret}` } });
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain(secret);
  });
});

describe('sundial config show', () => {
  const environment = { ECHO: 'http://127.0.0.1:9', STORE: 'embedded', DATA: 'data' };
  const show = (words: readonly string[]) =>
    operate(['config', 'show', '-c', CONFIG, ...words], {
      environment: { ...environment, POLICIES: join(fixture.folder, '*.yaml') },
    });

  it('prints one API, and exits with 2 for an unknown one', async () => {
    const { stdout, stderr } = await show(['orders', '--origin']);
    expect(stderr).toBe('');
    expect(stdout).toMatch(
      /^# revision [0-9a-f]{64}\n---\n# .*orders\.yaml\napi: orders # .*orders\.yaml:2\n/,
    );
    expect(stdout).not.toContain('listeners');
    expect(await show(['ordres'])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: 'sundial: no API is called "ordres": did you mean "orders"?\n',
    });
  });

  it('exits with 1 for files with errors, and prints only the errors', async () => {
    await fixture.write(fixture.policy.replace('access: public', ''));
    const { exitCode, stdout, stderr } = await show([]);
    await fixture.write(fixture.policy);
    await fixture.reload();
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/orders\.yaml:\d+:\d+: error: no access rule/);
  });

  it('prints a revision as JSON; GET /-/config shows the revision in force', async () => {
    const { stdout } = await show(['--format', 'json']);
    // Another revision than that of the gateway, which has other variables for its store.
    expect(JSON.parse(stdout)).toMatchObject({ revision: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect((await fixture.config()).revision).toBe(await fixture.revision());
  });
});
