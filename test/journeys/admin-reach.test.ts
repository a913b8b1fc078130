// The command line finds a running gateway and its token, and an exposed admin listener requires the token.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Ended, operate, runCommand } from '../support/command.ts';
import { runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';
import { freePorts } from '../support/ports.ts';

let perTest = new AsyncDisposableStack();
let folder = '';
let config = '';
let port = 0;
const TOKEN = 'a-token-that-the-operator-has-made-up';

beforeEach(async () => {
  perTest = new AsyncDisposableStack();
  folder = perTest.adopt(await mkdtemp(join(tmpdir(), 'sundial-reach-')), (made) =>
    rm(made, { recursive: true }),
  );
  config = join(folder, 'gateway.yaml');
  port = (await freePorts(1))[0] ?? 0;
});
afterEach(() => perTest.disposeAsync());

async function configure(admin: string | undefined): Promise<void> {
  const listener = admin === undefined ? '' : `\n  admin: ${admin}`;
  await writeFile(
    config,
    `public: https://127.0.0.1
listeners:
  https: { address: "127.0.0.1:0" }${listener}
store: "embedded:${folder}/store"
data: ${folder}/data
identity: { main: { issuer: "http://127.0.0.1:9", audience: sundial-samples } }
policies: ${join(import.meta.dirname, 'admin-writes')}/*.yaml
`,
  );
}

const run = async () =>
  perTest.use(await runGateway({ config, environment: { ECHO: 'http://127.0.0.1:9' } }));
const pausing = ['pause', 'orders', '--for', '2h', '--why', 'checkout fails'];
const sundial = (
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> =>
  operate([...words, '-c', config], {
    environment: { ECHO: 'http://127.0.0.1:9', ...environment },
    cwd: folder,
  });

describe('the command line', () => {
  it('finds the gateway by its file, and the token in the data folder', async () => {
    await configure(`{ address: "127.0.0.1:${port}" }`);
    await run();
    expect(await sundial(pausing)).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await sundial(['pause', '--list'])).stdout).toContain('1 pause in force');
  });

  it('uses the token of the gateway file, unless SUNDIAL_ADMIN_TOKEN is set', async () => {
    await writeFile(join(folder, 'token'), `${TOKEN}\n`);
    await configure(`{ address: "127.0.0.1:${port}", token: "\${file:./token}" }`);
    await run();
    expect(await sundial(pausing)).toMatchObject({ exitCode: 0, stderr: '' });
    const other = 'x'.repeat(40);
    const refused = await sundial(pausing, { SUNDIAL_ADMIN_TOKEN: other });
    expect(refused).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `sundial: the gateway at http://127.0.0.1:${port} refuses the token from SUNDIAL_ADMIN_TOKEN; it uses listeners.admin.token of its gateway file, or the token in its data folder\n`,
    });
  });

  it('names the token file that it cannot read, before it connects', async () => {
    await configure(`{ address: "127.0.0.1:${port}" }`);
    expect(await sundial(pausing)).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        'sundial: cannot read the admin token in data/admin-token: no such file; the gateway makes it at its first start. ' +
        'Run this command where the gateway runs, or set SUNDIAL_ADMIN_TOKEN\n',
    });
  });

  it.each([
    ['SUNDIAL_ADMIN_TOKEN holds no valid token', 'too short'],
    ['the gateway at', 'y'.repeat(40)],
  ])('never prints the token in the error "%s …"', async (sentence, value) => {
    await configure(`{ address: "127.0.0.1:${port}" }`);
    await run();
    const { stdout, stderr } = await sundial(pausing, { SUNDIAL_ADMIN_TOKEN: value });
    expect(stderr).toContain(sentence);
    expect(stdout + stderr).not.toContain(value);
  });

  it('exits with 3 if nothing listens', async () => {
    await configure(`{ address: "127.0.0.1:${port}" }`);
    expect(await sundial(['pause', '--list'])).toEqual({
      exitCode: 3,
      stdout: '',
      stderr: `sundial: no gateway answers at http://127.0.0.1:${port}: the connection was refused\n`,
    });
  });

  it('explains a failed TLS connection, and how to trust a private authority: exit 3', async () => {
    await configure(`{ address: "127.0.0.1:${port}" }`);
    const { https } = await run();
    const saidOf = async (ofPort: number, scheme = 'https') => {
      const origin = `${scheme}://127.0.0.1:${ofPort}`;
      const { exitCode, stderr } = await sundial(['pause', '--list', '--admin', origin]);
      expect(exitCode).toBe(3);
      return stderr.replace(`sundial: no gateway answers at ${origin}: `, '');
    };
    expect(await saidOf(https)).toBe(
      'its certificate is not trusted here (DEPTH_ZERO_SELF_SIGNED_CERT); set NODE_EXTRA_CA_CERTS=<file> to trust its authority\n',
    );
    expect(await saidOf(port)).toBe('it does not use TLS; write http://\n');
    expect(await saidOf(https, 'http')).toBe(
      'the connection was closed without a response; if it uses TLS, write https://\n',
    );
  });

  it('sends no token to another program on that port: exit 3', async () => {
    const seen: (string | undefined)[] = [];
    const stranger = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.end('hello');
    });
    await new Promise<void>((resolve) => stranger.listen(port, '127.0.0.1', resolve));
    perTest.defer(() => new Promise((resolve) => void stranger.close(() => resolve())));
    await configure(`{ address: "127.0.0.1:${port}" }`);
    expect(await sundial(pausing, { SUNDIAL_ADMIN_TOKEN: TOKEN })).toEqual({
      exitCode: 3,
      stdout: '',
      stderr: `sundial: the server at http://127.0.0.1:${port} is not the admin listener of a Sundial gateway\n`,
    });
    expect(seen).toEqual([undefined]);
  });

  it.each([
    ['a gateway without an admin listener', undefined, 'has no admin listener: add listeners.admin'],
    ['a port that the system chooses', '{ address: "127.0.0.1:0" }', 'has port 0 for the admin listener'],
  ])('exits with 2 for %s', async (_name, admin, sentence) => {
    await configure(admin);
    const { exitCode, stderr } = await sundial(['pause', '--list']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(sentence);
  });

  it('prints the errors of the gateway file with their positions', async () => {
    await writeFile(config, 'public: https://127.0.0.1\nlisteners: { adnim: 1 }\n');
    const { exitCode, stderr } = await sundial(['pause', '--list']);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^gateway\.yaml:2:14: error: unknown key "adnim"/m);
    await rm(config);
    expect(await sundial(['pause', '--list'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^gateway\.yaml:1:1: error: cannot read: no such file\n +\| this is /),
    });
  });

  it.each(['http://127.0.0.1:9901/-/', 'http://maria:secret@127.0.0.1:9901', '127.0.0.1:9901', 'file:///'])(
    'rejects --admin %s: exit 2',
    async (url) => {
      const { exitCode, stderr } = await operate(['pause', '--list', '--admin', url]);
      expect(exitCode).toBe(2);
      expect(stderr).toContain('Write an origin such as http://127.0.0.1:9901.');
    },
  );

  it('with --admin, uses only the token of the environment', async () => {
    await configure(`{ address: "127.0.0.1:${port}" }`);
    await run();
    const { exitCode, stderr } = await sundial([...pausing, '--admin', `http://127.0.0.1:${port}`]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: 'sundial: SUNDIAL_ADMIN_TOKEN is not set: with --admin, the token comes from it\n',
    });
  });

  it('as a process, writes errors to stderr and nothing to stdout', { timeout: 20_000 }, async () => {
    const ended = await runCommand(['pause', '--list', '--admin', `http://127.0.0.1:${port}`]);
    expect(ended).toMatchObject({ exitCode: 3, stdout: '' });
    expect(ended.stderr).toMatch(/^sundial: no gateway answers at /);
  });
});

describe('an admin listener that is not on loopback', () => {
  it('does not start without a configured token', async () => {
    await configure(`{ address: "0.0.0.0:${port}" }`);
    await expect(run()).rejects.toThrow(
      /gateway\.yaml:4:21: error: an admin listener that is not on loopback needs a token/,
    );
  });

  it('serves health and metrics without a token, and all other pages only with it', async () => {
    await configure(`{ address: "0.0.0.0:${port}", token: "\${env:TOKEN}" }`);
    await perTest.use(await runGateway({ config, environment: { ECHO: 'http://127.0.0.1:9', TOKEN } }));
    await using admin = overHttp1(port, { tls: false });
    const ask = (path: string, headers = {}) => admin.ask({ path, headers }).then(({ status }) => status);
    const open = ['/metrics', '/-/healthy', '/healthz', '/-/ready', '/readyz'];
    expect(await Promise.all(open.map((path) => ask(path)))).toEqual([200, 200, 200, 200, 200]);
    const closed = ['/-/overrides', '/-/pauses/0123456789', '/-/pins/payments/acme'];
    expect(await Promise.all(closed.map((path) => ask(path)))).toEqual([401, 401, 401]);
    const authorization = `bearer ${TOKEN}`;
    expect(await Promise.all(closed.map((path) => ask(path, { authorization })))).toEqual([200, 404, 200]);
    expect((await sundial(['pause', '--list'], { TOKEN })).stdout).toMatch(/^No pause is in force/);
  });
});
