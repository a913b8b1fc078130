// The demo as a command: from another folder, beside a second demo, and while its policies change.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SAMPLE_SERVICES } from '../../gateway/cli/demo/sample-services.ts';
import { overHttp1 } from '../support/http-client.ts';
import { parseCurl, sendCurl } from '../support/readme-curl.ts';
import {
  type Demo,
  failDemo,
  type Moved,
  movePorts,
  openWorkspace,
  startDemo,
  type Workspace,
} from '../support/readme-demo.ts';

const SAMPLES = SAMPLE_SERVICES.map(({ variable }) => variable);
const LISTENERS = ['HTTPS', 'HTTP', 'ADMIN'].map((name) => `SUNDIAL_${name}_PORT`);

const HELD = (folder: string): string =>
  `sundial: cannot start: the data folder ${folder}/data is in use by another demo; stop that demo, or start this one with SUNDIAL_DATA=<folder> and other ports\n`;

const withData = (moved: Moved, folder: string): Moved =>
  new Map<string, string | number>([...moved, ['SUNDIAL_DATA', folder]]);

const stack = new AsyncDisposableStack();
let project: Workspace;
let elsewhere = '';
let ports: ReadonlyMap<string, number>;
let demo: Demo;

beforeAll(async () => {
  project = stack.use(await openWorkspace());
  elsewhere = await mkdtemp(join(tmpdir(), 'sundial-elsewhere-'));
  stack.defer(() => rm(elsewhere, { recursive: true, force: true }));
  ports = await movePorts([...SAMPLES, ...LISTENERS]);
  demo = await startDemo(project.folder, ports, elsewhere);
  stack.defer(async () => {
    demo.child.kill('SIGKILL');
    await demo.ended;
  });
});
afterAll(() => stack.disposeAsync());

describe('a demo started from another folder', () => {
  it('uses the folder of the project, and writes nothing to the current folder', () => {
    expect(readdirSync(elsewhere)).toEqual([]);
    const data = join(project.folder, 'data');
    expect(readdirSync(data)).toEqual(
      expect.arrayContaining(['gateway.crt', 'gateway.log', 'issuer-key.json']),
    );
    expect(demo.stdout).toMatch(new RegExp(`^ +log +${join(data, 'gateway.log')}$`, 'm'));
    expect(demo.stdout).toMatch(new RegExp(`^ +store +embedded, in ${data}$`, 'm'));
  });

  it('prints commands that work there', async () => {
    const line = demo.stdout.split('\n').find((each) => each.includes('Bearer $(')) ?? '';
    const [answer] = await sendCurl(parseCurl(line, demo.shell), (port) => port);
    expect(answer?.status).toBe(200);
  });
});

it('the demo serves HTTP/1.1 on the fast plane', async () => {
  await using gateway = overHttp1(ports.get('SUNDIAL_HTTPS_PORT') ?? 0);
  expect((await gateway.ask({ path: '/api/v2/orders' })).status).toBe(401);
  await using admin = overHttp1(ports.get('SUNDIAL_ADMIN_PORT') ?? 0, { tls: false });
  const { text } = await admin.ask({ path: '/metrics' });
  expect(text).toMatch(/^sundial_plane_requests_total\{plane="fast",reason="usual"\} [1-9]/m);
  expect(text).not.toMatch(/^sundial_plane_requests_total\{plane="general",.*\} [1-9]/m);
});

describe('the receiver of the demo', () => {
  it('gets the events of an order and of a payment', async () => {
    const at = (variable: string) => ports.get(variable) ?? 0;
    await using webhooks = overHttp1(at('SUNDIAL_WEBHOOKS_PORT'), { tls: false });
    const endpoints = async () => (await webhooks.ask({ path: '/admin/overview' })).json.endpoints;
    await expect.poll(endpoints).toMatchObject([{ owner: 'sample-receiver', status: 'enabled' }]);
    const line = demo.stdout.split('\n').find((each) => each.includes('Bearer $(')) ?? '';
    const { headers } = parseCurl(line, demo.shell);
    await using gateway = overHttp1(at('SUNDIAL_HTTPS_PORT'));
    for (const path of ['/api/v2/orders/1002/cancel', '/api/payments/p-2001/refund'])
      expect((await gateway.ask({ method: 'POST', path, headers })).status, path).toBe(200);
    await using receiver = overHttp1(at('SUNDIAL_RECEIVER_PORT'));
    const received = async () => {
      const { data } = (await receiver.ask({ path: '/received' })).json as { data: { type: string }[] };
      return data
        .map(({ type }) => type)
        .filter((type) => /^(order|payment)\./.test(type))
        .sort();
    };
    await expect.poll(received).toEqual(['order.cancelled', 'payment.refunded']);
  });
});

describe('a second demo', { timeout: 60_000 }, () => {
  it('without its own ports exits with 3, because the data folder is in use', () => {
    expect(failDemo(project.folder, ports)).toEqual({ code: 3, stdout: '', stderr: HELD(project.folder) });
  });

  it('with its own ports exits with 3 too, and leaves the webhooks of the first unchanged', async () => {
    const moved = await movePorts([...SAMPLES, ...LISTENERS]);
    expect(failDemo(project.folder, moved)).toEqual({ code: 3, stdout: '', stderr: HELD(project.folder) });
    const overview = await fetch(`http://127.0.0.1:${ports.get('SUNDIAL_WEBHOOKS_PORT')}/admin/overview`);
    expect(await overview.json()).toMatchObject({
      endpoints: [{ owner: 'sample-receiver', host: `localhost:${ports.get('SUNDIAL_RECEIVER_PORT')}` }],
    });
  });

  it('exits with 3 if its data folder cannot be created', () => {
    const file = join(project.folder, 'package.json');
    expect(failDemo(project.folder, withData(ports, 'package.json/data'))).toEqual({
      code: 3,
      stdout: '',
      stderr: `sundial: cannot start: the data folder ${file}/data cannot be used: its path, or a parent of it, is a file; SUNDIAL_DATA=<folder> moves it\n`,
    });
  });

  it('that shares a port with the first names the port and the variable that moves it', async () => {
    const port = ports.get('SUNDIAL_HTTP_PORT') ?? 0;
    const own = await movePorts([...SAMPLES, ...LISTENERS]);
    const moved = withData(new Map([...own, ['SUNDIAL_HTTP_PORT', port]]), 'data/second');
    expect(failDemo(project.folder, moved)).toEqual({
      code: 3,
      stdout: '',
      stderr: `sundial: cannot start: the http listener cannot listen on 127.0.0.1:${port}: the address is in use; SUNDIAL_HTTP_PORT=<free port> sets another\n`,
    });
  });

  it('with its own data folder and ports runs beside the first', async () => {
    const own = await movePorts([...SAMPLES, ...LISTENERS]);
    const second = await startDemo(project.folder, withData(own, 'data/third'));
    for (const file of ['gateway.crt', 'gateway.log', 'issuer-key.json', 'sundial.db'])
      expect(existsSync(join(project.folder, 'data/third', file)), file).toBe(true);
    expect(second.stdout).toMatch(/^ +log +data\/third\/gateway\.log$/m);
    second.child.kill('SIGTERM');
    expect(await second.ended).toEqual({ code: 0, signal: null });
  });
});

describe('an edit of its policies', () => {
  const file = () => join(project.folder, 'policies/orders.yaml');
  const untilTold = (line: string) => expect.poll(() => demo.stderr).toMatch(new RegExp(`${line}\n$`));

  it('that is invalid, reverted or applied prints one line in the terminal', async () => {
    const text = readFileSync(file(), 'utf8');
    writeFileSync(file(), text.replace('redirect: v2', 'redirect: v3'));
    await untilTold(
      'sundial: policies not reloaded: policies/orders\\.yaml:26:24: error: no version is called "v3" \\(there are v0, v1, v2\\)',
    );
    writeFileSync(file(), text);
    await untilTold('sundial: policy files match the plan in force again');
    writeFileSync(file(), text.replace('2027-04-15', '2027-05-15'));
    // The OpenAPI description of the service still has the old date.
    await untilTold('sundial: policies reloaded \\(and 1 warning, see the log\\)');
    expect(demo.stderr.trimEnd().split('\n')).toHaveLength(3);
  });
});
