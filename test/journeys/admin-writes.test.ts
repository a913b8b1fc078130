// Pauses and pins by the command line take effect from the next request on.
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { adminWriter } from '../support/admin-write.ts';
import { type Ended, operate, runCommand } from '../support/command.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';

const stack = new AsyncDisposableStack();
const BROWNOUT = Date.UTC(2027, 0, 5, 14, 30);
let gateway: RunningGateway;
let client: Client;
let admin: Client;
let data = '';
let token = '';
let bearer = '';
let now = BROWNOUT;

beforeAll(async () => {
  data = stack.adopt(await mkdtemp(join(tmpdir(), 'sundial-admin-')), (folder) =>
    rm(folder, { recursive: true }),
  );
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const environment = { ECHO: echo.url, ISSUER: issuer.url, DATA: data };
  gateway = stack.use(await runGateway({ policies: 'admin-writes', lifecycleNow: () => now, environment }));
  client = stack.use(overHttp1(gateway.https));
  admin = stack.use(overHttp1(gateway.admin, { tls: false }));
  token = (await readFile(join(data, 'admin-token'), 'utf8')).trim();
  bearer = `Bearer ${await issuer.sign({ client_id: 'acme', scope: 'payments:read' })}`;
});
afterAll(() => stack.disposeAsync());

const reach = () => ['--admin', `http://127.0.0.1:${gateway.admin}`];

const sundial = (...words: string[]): Promise<Ended> =>
  operate([...words, ...reach()], { environment: { SUNDIAL_ADMIN_TOKEN: token } });

const asProcess = (...words: string[]): Promise<Ended> =>
  runCommand([...words, ...reach()], { SUNDIAL_ADMIN_TOKEN: token });

const order = (version: string): Promise<Answer> => client.ask({ path: `/api/${version}/orders/7` });

const write = (method: string, path: string, body: unknown): Promise<Answer> =>
  adminWriter(admin, token)({ method, path, body });

describe('the admin token', () => {
  it('is created at the first start, readable by its owner only, and never logged', async () => {
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect((await stat(join(data, 'admin-token'))).mode & 0o777).toBe(0o600);
    expect(JSON.stringify(gateway.log)).not.toContain(token);
  });
});

describe('sundial pause', () => {
  it('stops a brownout at once; the brownout continues when the pause ends', async () => {
    now = BROWNOUT;
    expect((await order('v1')).status).toBe(410);
    const made = await asProcess(
      'pause',
      'orders',
      'v1',
      '--for',
      '2h',
      '--why',
      'checkout fails',
      '--by',
      'maria',
    );
    expect(made).toMatchObject({ exitCode: 0, stderr: '' });
    const [first, effect, end] = made.stdout.split('\n');
    expect(first).toBe('Paused brownouts and retirement of orders v1 until 2027-01-05T16:30:00Z.');
    expect(effect).toBe('  v1 is served until 2027-01-05T16:30:00Z without 1 brownout');
    const id = /--end ([0-9a-f]+) /.exec(end ?? '')?.[1];
    expect((await order('v1')).status).toBe(200);

    const listed = await asProcess('pause', '--list');
    expect(listed.stdout).toContain('1 pause in force at 2027-01-05T14:30:00Z');
    expect(listed.stdout).toContain(
      `${id}  orders v1, until 2027-01-05T16:30:00Z\n  by maria: checkout fails\n`,
    );

    const ended = await asProcess('pause', '--end', 'orders', 'v1', '--why', 'fixed');
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^Ended the pause of orders v1 that maria had made until /);
    expect((await order('v1')).status).toBe(410);
  });

  it('with --format json prints the response of the gateway', async () => {
    now = BROWNOUT;
    const words = ['pause', 'orders', 'v1', '--for', '1h', '--why', 'x', '--by', 'maria', '--format', 'json'];
    const { pause } = JSON.parse((await sundial(...words)).stdout);
    expect(pause).toMatchObject({
      kind: 'pause',
      api: 'orders',
      version: 'v1',
      from: '2027-01-05T14:30:00Z',
      until: '2027-01-05T15:30:00Z',
      by: 'maria',
      why: 'x',
      effects: [{ version: 'v1', operation: null, effect: 'brownouts_held', brownouts: 1 }],
    });
    const { overrides } = JSON.parse((await sundial('pause', '--list', '--format', 'json')).stdout);
    expect(overrides).toEqual([pause]);
    const ended = await sundial('pause', '--end', pause.id, '--why', 'x', '--format', 'json');
    expect(JSON.parse(ended.stdout)).toMatchObject({ ended: { id: pause.id } });
  });

  it('ends nothing if several pauses match, and lists them', async () => {
    now = BROWNOUT;
    const author = { by: 'maria', why: 'checkout fails' };
    await write('POST', '/-/pauses', { api: 'orders', version: 'v1', for: '2h', ...author });
    const whole = await write('POST', '/-/pauses', { api: 'orders', for: '2h', ...author });
    const several = await sundial('pause', '--end', 'orders', '--why', 'x');
    expect(several).toMatchObject({ exitCode: 1, stdout: '' });
    expect(several.stderr).toMatch(
      /^sundial: several pauses match; name one by its id:\n {2}[0-9a-f]+ {2}every version of orders, until .*\n {2}[0-9a-f]+ {2}orders v1, /,
    );
    expect((await sundial('pause', '--end', 'orders', 'v1', '--why', 'x')).exitCode).toBe(0);
    const wider = await sundial('pause', '--end', 'orders', 'v1', '--why', 'x');
    expect(wider.exitCode).toBe(1);
    expect(wider.stderr).toMatch(
      /^sundial: orders v1 has no pause of its own. End the pause of every version of orders: /,
    );

    const place = whole.headers.location ?? '';
    expect((await admin.ask({ path: place })).json).toMatchObject({ pause: { version: null, by: 'maria' } });
    expect((await write('DELETE', place, author)).status).toBe(200);
    expect((await write('DELETE', place, author)).status).toBe(404);
    expect((await admin.ask({ path: place })).status).toBe(404);
  });

  it.each([
    [['pause'], 'error: name an API to pause, or use --list'],
    [['pause', '--list', 'orders'], 'error: --list shows every pause, so it has no API argument'],
    [['pause', 'orders', '--for', '2h'], 'error: --why is required; it is stored with the pause'],
    [
      ['pause', 'orders', '--why', 'x'],
      'error: the end of the pause is missing: use --for 2h or --until 2026-12-01',
    ],
    [
      ['pause', 'orders', '--for', '2h', '--until', '2027-02-01', '--why', 'x'],
      "cannot be used with option '--for",
    ],
    [
      ['pause', 'orders', '--for', 'ever', '--why', 'x'],
      'Write a duration such as 2h or 3d, of 3650d at most.',
    ],
    [
      ['pause', 'orders', '--for', '99999999d', '--why', 'x'],
      'Write a duration such as 2h or 3d, of 3650d at most.',
    ],
    [['pause', 'orders', '--until', 'friday', '--why', 'x'], 'Write a date such as 2026-11-20'],
    [['pause', '--end', '--for', '2h', 'orders', '--why', 'x'], "cannot be used with option '--for"],
    [['pin', 'upgrade', 'payments', 'acme', '--why', 'x'], "missing required argument 'version'"],
    [['pin', 'roll-back', 'payments', 'acme'], "required option '--why <text>' not specified"],
  ])('%j is wrong usage and exits with 2', async (words, message) => {
    const { exitCode, stdout, stderr } = await sundial(...words);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it.each([
    ['order', 'v1', '2h', '<api>: unknown API (known: orders, payments)'],
    ['orders', 'v9', '2h', '<version>: unknown version of orders (known: v0, v1, v2)'],
    ['orders', 'v1', '200d', '--for: a pause ends 2027-04-05T14:30:00Z at the latest'],
  ])('the gateway refuses to pause %s %s for %s: exit 1', async (api, version, length, message) => {
    now = BROWNOUT;
    const { exitCode, stdout, stderr } = await sundial('pause', api, version, '--for', length, '--why', 'x');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('delays a retirement, which takes effect when the pause expires', async () => {
    now = Date.UTC(2027, 3, 15);
    expect((await order('v1')).status).toBe(410);
    const made = await sundial('pause', 'orders', '--until', '2027-04-20', '--why', 'acme is not ready');
    expect(made.exitCode).toBe(0);
    expect(made.stdout).toContain('  v0 is served again until 2027-04-20, past its sunset of 2026-06-01\n');
    expect([(await order('v0')).status, (await order('v1')).status]).toEqual([200, 200]);
    now = Date.UTC(2027, 3, 20) - 1;
    expect((await order('v1')).status).toBe(200);
    now = Date.UTC(2027, 3, 20);
    expect([(await order('v0')).status, (await order('v1')).status]).toEqual([410, 410]);
    expect((await sundial('pause', '--list')).stdout).toMatch(/^No pause is in force at 2027-04-20/);
  });
});

describe('sundial pin', () => {
  const pin = (...words: string[]): Promise<Ended> => sundial('pin', ...words);
  const served = async (): Promise<unknown> => {
    const answer = await client.ask({ path: '/api/payments/1', headers: { authorization: bearer } });
    expect(answer.status).toBe(200);
    const lines: unknown = answer.json.headers;
    return Array.isArray(lines) && Object.fromEntries(lines)['API-Version'];
  };

  it('upgrades an account and rolls it back within 72 hours, from the next request on', async () => {
    now = Date.UTC(2026, 0, 10);
    expect((await pin('show', 'payments', 'acme')).stdout).toBe(
      'payments: no version is stored for acme. Its version follows from the day in its claim account_created, else its first call.\n',
    );
    expect(await served()).toBe('2025-09-01');
    expect((await pin('show', 'payments', 'acme')).stdout).toBe(
      'payments: acme gets 2025-09-01, by the first call of 2026-01-10.\nNo upgrade can be rolled back.\n',
    );

    now = Date.UTC(2026, 2, 2);
    expect(await served()).toBe('2025-09-01');
    const upgraded = await pin(
      'upgrade',
      'payments',
      'acme',
      '2026-03-01',
      '--why',
      'tested',
      '--by',
      'maria',
    );
    expect(upgraded).toEqual({
      exitCode: 0,
      stderr: '',
      stdout:
        'payments: acme gets 2026-03-01, by an upgrade of 2026-03-02.\n' +
        'Until 2026-03-05 this restores 2025-09-01:\n' +
        `  sundial pin roll-back payments acme --why "…" ${reach().join(' ')}\n`,
    });
    expect(await served()).toBe('2026-03-01');

    now = Date.UTC(2026, 2, 5) - 1;
    const back = await pin('roll-back', 'payments', 'acme', '--why', 'amounts differ');
    expect(back.stdout).toMatch(/^payments: acme gets 2025-09-01, by a roll-back of 2026-03-04T23:59:59/);
    expect(await served()).toBe('2025-09-01');
  });

  it('refuses a roll-back after 72 hours, and names the deadline', async () => {
    now = Date.UTC(2026, 2, 10);
    expect((await pin('upgrade', 'payments', 'late', '2026-03-01', '--why', 'tested')).exitCode).toBe(0);
    now = Date.UTC(2026, 2, 13);
    expect(await pin('roll-back', 'payments', 'late', '--why', 'x')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'sundial: An upgrade can be rolled back for 72 hours, this one until 2026-03-13T00:00:00Z.\n',
    });
  });

  it.each([
    ['an older version', ['upgrade', 'payments', 'moved', '2025-03-01'], 'Name a newer version'],
    [
      'an unknown version',
      ['upgrade', 'payments', 'moved', '2025-04-01'],
      'payments has no version "2025-04-01". Served versions: 2026-03-01, 2025-09-01, 2025-03-01.',
    ],
    [
      'a roll-back without an upgrade',
      ['roll-back', 'payments', 'nobody'],
      'This account has no upgrade that can be rolled back.',
    ],
    [
      'an API without pins',
      ['upgrade', 'orders', 'moved', 'v2'],
      'This API pins no accounts. APIs with pins: payments.',
    ],
    [
      'an unknown API',
      ['upgrade', 'payment', 'moved', '2026-03-01'],
      'There is no such API. APIs with pins: payments.',
    ],
  ])('the gateway refuses %s: exit 1', async (_name, words, message) => {
    now = Date.UTC(2026, 2, 10);
    await write('PUT', '/-/pins/payments/moved', { version: '2025-09-01', by: 'maria', why: 'x' });
    const { exitCode, stdout, stderr } = await pin(...words, '--why', 'x');
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(`sundial: `);
    expect(stderr).toContain(message);
  });

  it('takes the creation day from --created, and upgrades only to newer versions', async () => {
    now = Date.UTC(2026, 2, 10);
    const upgrade = (account: string, version: string, created: string) =>
      pin('upgrade', 'payments', account, version, '--created', created, '--why', 'x');
    for (const version of ['2025-03-01', '2025-09-01'])
      expect(await upgrade('bornlate', version, '2025-10-14')).toEqual({
        exitCode: 1,
        stdout: '',
        stderr:
          'sundial: The account is on 2025-09-01. Name a newer version, or roll back the last upgrade.\n',
      });
    expect((await pin('show', 'payments', 'bornlate')).stdout).toContain('no version is stored for bornlate');
    const moved = await upgrade('bornlate', '2026-03-01', '2025-10-14T10:00:00+02:00');
    expect(moved.stdout).toContain('bornlate gets 2026-03-01, by an upgrade');
    // A stored pin takes precedence over the creation day.
    expect((await upgrade('bornlate', '2025-09-01', '2020-01-01')).stderr).toContain(
      'The account is on 2026-03-01.',
    );
    const wrong = await upgrade('x', '2026-03-01', 'yesterday');
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain('Write a date such as 2026-11-20');
  });

  it('refuses an empty account name: exit 2', async () => {
    const { exitCode, stderr } = await pin('show', 'payments', '');
    expect(exitCode).toBe(2);
    expect(stderr).toContain("argument 'account'. The value is empty.");
  });

  it('refuses a version that is not released yet', async () => {
    now = Date.UTC(2026, 0, 10);
    const { stderr } = await pin('upgrade', 'payments', 'early', '2026-03-01', '--why', 'x');
    expect(stderr).toBe(
      'sundial: 2026-03-01 is not served now, so no account can move there. Served versions: 2025-09-01, 2025-03-01.\n',
    );
  });

  it.each(['a/b', '..', 'ünï cødé', '100%', "o'brien;$(x)", '?x=1#y'])(
    'finds the account %s again',
    async (account) => {
      now = Date.UTC(2026, 2, 10);
      const upgraded = await pin(
        'upgrade',
        'payments',
        account,
        '2026-03-01',
        '--why',
        'x',
        '--format',
        'json',
      );
      expect(JSON.parse(upgraded.stdout)).toMatchObject({ account, pin: { version: '2026-03-01' } });
      const path = `/-/pins/payments/${encodeURIComponent(account).replaceAll('.', '%2E')}`;
      expect((await admin.ask({ path })).json).toMatchObject({ account, pin: { origin: 'upgrade' } });
    },
  );
});
