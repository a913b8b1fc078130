// The npm package as users get it: built, packed, installed offline without scripts, run from another folder.
import { spawnSync } from 'node:child_process';
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { healthCommandOf, lineage, operands, readStages } from '../support/dockerfile.ts';
import { type GatewayProcess, startProcess } from '../support/gateway-process.ts';
import { overHttp1 } from '../support/http-client.ts';
import { freePorts } from '../support/ports.ts';
import { ROOT, readReadme } from '../support/readme-text.ts';
import { startRedis } from '../support/redis-server.ts';

const MAX_PACKED_BYTES = 1_500_000;
const { NODE_COMPILE_CACHE: _cache, ...inherited } = process.env;
/** With the `node` that runs this test. */
const environment = { ...inherited, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };

const stack = new AsyncDisposableStack();
let folder = '';
let packed = '';
let installed = '';
let service = '';

function run(command: string, words: readonly string[], cwd: string) {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd, env: environment, encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** @throws Error with the output if the command fails */
function succeed(command: string, words: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = run(command, words, cwd);
  if (status !== 0) throw new Error(`${command} ${words.join(' ')}: exit ${status}\n${stdout}${stderr}`);
  return stdout;
}

const sundial = (...words: readonly string[]) =>
  run(join(folder, 'node_modules/.bin/sundial'), words, service);

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'sundial-install-')));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  service = await mkdtemp(join(folder, 'service-'));
  const built = join(folder, 'package');
  succeed(process.execPath, ['build/package.ts', built], ROOT);
  packed = join(folder, succeed('npm', ['pack', '--silent', built], folder).trim());
  succeed('npm', ['install', '--offline', '--ignore-scripts', packed], folder);
  const { name } = JSON.parse(await readFile(join(built, 'package.json'), 'utf8'));
  installed = join(folder, 'node_modules', name);
}, 60_000);
afterAll(() => stack.disposeAsync());

describe('the package', () => {
  it('is built and installed by the commands of the README', () => {
    const shown = readReadme().blocks.filter(({ section }) => section === 'In front of your service');
    expect(shown.map(({ text }) => text.trim().split('\n'))).toEqual([
      ['npm ci', 'npm run build', 'npm pack ./dist/package'],
      [
        `npm install ./${basename(packed)}`,
        'npx sundial init --service http://127.0.0.1:3000',
        'npx sundial check',
        'npx sundial run',
      ],
    ]);
  });

  it('is small, has no dependencies or scripts, and can be published', async () => {
    expect((await stat(packed)).size).toBeLessThan(MAX_PACKED_BYTES);
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    const { version, engines, bin } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({
      name: expect.stringMatching(/^@[a-z]+\/[a-z]+$/),
      version,
      engines,
      bin,
    });
    for (const key of ['dependencies', 'scripts', 'private', 'devDependencies'])
      expect(manifest).not.toHaveProperty(key);
    expect(await readdir(join(folder, 'node_modules'))).toEqual(
      expect.not.arrayContaining(['fastify', 'undici']),
    );
  });

  it('needs separate packages for tracing, and names the command that installs them', async () => {
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    const names = Object.keys(manifest.peerDependencies);
    expect(manifest.peerDependenciesMeta).toEqual(
      Object.fromEntries(names.map((name) => [name, { optional: true }])),
    );
    expect(await readdir(join(folder, 'node_modules'))).not.toContain('@opentelemetry');
    const config = join(folder, 'traced.yaml');
    const listeners = '{ http: { address: "127.0.0.1:0", mode: serve } }';
    await writeFile(
      config,
      `public: http://127.0.0.1:8080\nlisteners: ${listeners}\ntracing: { otlp: "http://127.0.0.1:4318" }\npolicies: policies/*.yaml\n`,
    );
    await mkdir(join(folder, 'policies'));
    const policy =
      'api: a\nbase: /a\naccess: public\nupstreams: { one: { targets: ["http://127.0.0.1:9"] } }\nversions: none\n';
    await writeFile(join(folder, 'policies/a.yaml'), policy);
    const missing = `tracing.otlp needs packages that are not installed: npm install ${names.join(' ')}`;
    expect(sundial('check', '-c', config)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`warning: a gateway does not start here: ${missing}`),
    });
    expect(sundial('run', '-c', config)).toMatchObject({
      status: 3,
      stderr: expect.stringContaining(`sundial: cannot start: ${missing}\n`),
    });
  });

  it('has no TypeScript, and has the licences of bundled packages', async () => {
    const files = await readdir(installed, { recursive: true });
    expect(files.filter((file) => /\.(ts|map)$/.test(file))).toEqual([]);
    const licences = await readFile(join(installed, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    for (const name of ['fastify', 'undici', 'yaml', 'zod', 'abstract-logging'])
      expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\((MIT|ISC)\\)$`, 'm'));
  });

  it('exports the schemas of policy files and gateway files', async () => {
    const { name } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    for (const kind of ['policy', 'gateway']) {
      const resolve = `process.stdout.write(require.resolve('${name}/${kind}.schema.json'))`;
      const path = succeed(process.execPath, ['--eval', resolve], folder);
      const kept = await readFile(join(ROOT, `config/schema/${kind}.schema.json`), 'utf8');
      expect(await readFile(path, 'utf8')).toBe(kept);
    }
  });

  it('is compiled by the RUN command of the image', () => {
    const [command = ''] = lineage(readStages(), 'gateway')
      .flatMap((stage) => operands(stage, 'RUN'))
      .slice(-1);
    expect(command).toContain('NODE_COMPILE_CACHE');
    expect(succeed('sh', ['-c', command], installed)).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('is unpacked by the command in the systemd unit', async () => {
    const unit = await readFile(join(ROOT, 'config/systemd/sundial.service'), 'utf8');
    const command =
      /^# +(mkdir .* && tar .*)$/m.exec(unit)?.[1]?.replaceAll('/opt/sundial', join(folder, 'opt')) ?? '';
    succeed('sh', ['-c', command], folder);
    const [program = ''] = /(?<=^ExecStart=\S+ \/opt\/sundial\/)\S+/m.exec(unit) ?? [];
    succeed(process.execPath, [join(folder, 'opt', program), '--version'], service);
  });

  it('says in one line what to install if Node is too old', () => {
    const old = ['--require', join(ROOT, 'test/cli/fake-version.cjs')];
    const words = [...old, join(installed, 'gateway/sundial.js'), 'run'];
    expect(run(process.execPath, words, service)).toEqual({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^sundial, .*needs Node 26 and this is 20\.19\.5: install Node 26, or .*\n$/,
      ),
    });
  });

  it('says in one line where the samples of the demo are', () => {
    expect(sundial('demo')).toEqual({
      status: 3,
      stdout: '',
      stderr: expect.stringMatching(/^sundial: .*run `npm ci && npm start` in a clone of the project.*\n$/),
    });
  });
});

describe('a service behind the installed gateway', () => {
  let https = 0;
  let admin = 0;

  beforeAll(async () => {
    const echo = stack.adopt(await startEcho({ port: 0 }), (each) => each.close());
    [https = 0, admin = 0] = await freePorts(2);
    expect(sundial('init', '--service', echo.url)).toMatchObject({ status: 0, stderr: '' });
    const file = join(service, 'config/gateway.yaml');
    const written = await readFile(file, 'utf8');
    await writeFile(file, written.replaceAll('8443', String(https)).replaceAll('9901', String(admin)));
  });

  const start = (): GatewayProcess => startProcess(['run'], environment, [], installed, [], service);

  it('has valid files, and schemas for an editor', async () => {
    expect(sundial('check', '--strict')).toMatchObject({ status: 0, stderr: '' });
    expect(sundial('schema')).toMatchObject({ status: 0, stderr: '' });
    const made = await readFile(join(service, 'config/schema/policy.schema.json'), 'utf8');
    expect(made).toBe(await readFile(join(ROOT, 'config/schema/policy.schema.json'), 'utf8'));
  });

  it('is reachable with dashboard and admin API, and exits with 0 on SIGTERM', async () => {
    await using gateway = start();
    await gateway.ready;
    await using client = overHttp1(https);
    expect(await client.ask({ path: '/echo/7' })).toMatchObject({
      status: 200,
      json: { target: '/echo/7' },
    });
    const page = await fetch(`http://127.0.0.1:${admin}/dashboard/`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('/dashboard/page/')]);
    const script = await fetch(`http://127.0.0.1:${admin}/dashboard/page/dashboard.js`);
    expect([script.status, script.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/javascript/),
    ]);
    expect(sundial('status')).toMatchObject({ status: 0, stderr: '' });
    // The thread that reads policies and the thread of the database work.
    expect(sundial('reload')).toMatchObject({ status: 0, stderr: '' });
    expect(sundial('pause', '--list')).toMatchObject({ status: 0, stderr: '' });
    const [shell = '', ...words] = healthCommandOf(readStages());
    const isHealthy = () => spawnSync(shell, words, { env: { HEALTH_PORT: String(admin) } }).status === 0;
    expect(isHealthy()).toBe(true);
    gateway.kill('SIGTERM');
    expect(await gateway.ended).toBe(0);
    expect(isHealthy()).toBe(false);
  });

  it('is reachable through several workers with Redis', async () => {
    const redis = stack.adopt(await startRedis(), (server) => server.stop());
    const file = join(service, 'config/gateway.yaml');
    await appendFile(file, `workers: 2\nstore: ${redis.url}\n`);
    await appendFile(
      join(service, 'policies/api.yaml'),
      'limits: { rate: 600/1m, by: address, exact: true }\n',
    );
    await using gateway = start();
    await gateway.ready;
    await using client = overHttp1(https);
    expect(await client.ask({ path: '/echo/7' })).toMatchObject({
      status: 200,
      // A script in Redis counts this limit.
      headers: { 'x-ratelimit-limit': '600', 'x-ratelimit-remaining': '599' },
    });
    expect(gateway.stderr).toMatch(/workers +2/);
    expect(sundial('pause', '--list')).toMatchObject({ status: 0, stderr: '' });
    gateway.kill('SIGTERM');
    expect(await gateway.ended).toBe(0);
  });
});
