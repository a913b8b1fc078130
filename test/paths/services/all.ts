// Every service of test:paths: its preset, its build and its start.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startExpress } from './express.ts';
import { startFastify } from './fastify.ts';
import { nginxConf } from './nginx.ts';
import type { PathService } from './path-service.ts';
import { build, startProgram } from './program.ts';

export interface ServiceKind {
  readonly name: string;
  readonly paths: unknown;
  readonly start: () => Promise<PathService>;
}

const HERE = import.meta.dirname;
/** Built programs stay here for the next run. */
const BUILT = join(HERE, '../../../.cache/paths');

export const SERVICES: readonly ServiceKind[] = [
  { name: 'express', paths: 'express', start: startExpress },
  { name: 'fastify', paths: 'fastify', start: startFastify },
  { name: 'go', paths: 'go', start: () => startGo({}) },
  { name: 'go-before-1-22', paths: 'go', start: () => startGo({ GODEBUG: 'httpmuxgo121=1' }) },
  { name: 'wsgiref', paths: 'wsgi', start: () => startPython('wsgi.py') },
  { name: 'flask', paths: 'wsgi', start: () => startPython('flask_service.py') },
  { name: 'fastapi', paths: 'fastapi', start: () => startPython('fastapi_service.py') },
  { name: 'spring', paths: 'spring', start: () => startSpring('path_pattern_parser') },
  { name: 'spring-ant', paths: 'spring', start: () => startSpring('ant_path_matcher') },
  { name: 'nginx', paths: 'nginx', start: () => startNginx() },
  {
    name: 'nginx-express',
    paths: { preset: 'nginx', case: 'insensitive' },
    start: () => startNginxBefore(startExpress, '/'),
  },
  {
    name: 'nginx-uri-go',
    paths: 'nginx',
    start: () => startNginxBefore(() => startGo({}), '$uri$is_args$args'),
  },
  {
    name: 'nginx-uri-wsgiref',
    paths: 'nginx',
    start: () => startNginxBefore(() => startPython('wsgi.py'), '$uri$is_args$args'),
  },
  {
    name: 'nginx-uri-nginx-uri-express',
    paths: { preset: 'nginx', case: 'insensitive' },
    start: () =>
      startNginxBefore(() => startNginxBefore(startExpress, '$uri$is_args$args'), '$uri$is_args$args'),
  },
];

/** Services of the same program build it once. */
function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  return () => {
    result ??= work();
    return result;
  };
}

const goProgram = once(async () => {
  const elsewhere = '/usr/local/go/bin/go';
  const program = join(BUILT, 'go-service');
  await mkdir(BUILT, { recursive: true });
  await build({
    command: existsSync(elsewhere) ? elsewhere : 'go',
    arguments: ['build', '-C', join(HERE, 'go'), '-o', program, '.'],
    // Uses the installed toolchain. The program needs no modules.
    environment: { GOTOOLCHAIN: 'local', GOPROXY: 'off' },
  });
  return program;
});

async function startGo(environment: Readonly<Record<string, string>>): Promise<PathService> {
  const command = await goProgram();
  return startProgram((port) => ({ command, arguments: [String(port)], environment }));
}

async function startPython(program: string): Promise<PathService> {
  const python = program === 'wsgi.py' ? 'python3' : await pythonWithPackages();
  const environment = { PYTHONDONTWRITEBYTECODE: '1' };
  return startProgram((port) => ({
    command: python,
    arguments: [join(HERE, 'python', program), String(port)],
    environment,
  }));
}

/** The interpreter of an environment with the packages of requirements.txt. */
const pythonWithPackages = once(async () => {
  const requirements = join(HERE, 'python/requirements.txt');
  const wanted = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 12);
  const folder = join(BUILT, `python-${wanted}`);
  const python = join(folder, 'bin/python');
  const whole = join(folder, 'whole');
  if (existsSync(whole)) return python;
  await build({ command: 'python3', arguments: ['-m', 'venv', '--clear', folder] });
  await build({ command: python, arguments: ['-m', 'pip', 'install', '--quiet', '-r', requirements] });
  await writeFile(whole, '');
  return python;
});

const springJar = once(async () => {
  const folder = join(BUILT, 'spring');
  await mkdir(folder, { recursive: true });
  await cp(join(HERE, 'spring'), folder, { recursive: true });
  const project = join(folder, 'pom.xml');
  await build({ command: 'mvn', arguments: ['--quiet', '--batch-mode', '-f', project, 'package'] });
  return join(folder, 'target/service-1.jar');
});

async function startSpring(matcher: string): Promise<PathService> {
  const jar = await springJar();
  return startProgram((port) => ({
    command: 'java',
    arguments: [
      ...[
        '-Xmx256m',
        '-XX:+UseSerialGC',
        '-XX:TieredStopAtLevel=1',
        '-jar',
        jar,
        `--server.port=${port}`,
        '--server.address=127.0.0.1',
      ],
      `--spring.mvc.pathmatch.matching-strategy=${matcher}`,
    ],
  }));
}

async function startNginx(target?: string): Promise<PathService> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sundial-nginx-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'nginx.conf');
  const { url } = stack.use(
    await startProgram(async (port) => {
      await writeFile(file, nginxConf(folder, port, target));
      return { command: 'nginx', arguments: ['-e', 'stderr', '-p', folder, '-c', file] };
    }),
  );
  const moved = stack.move();
  return { url, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

async function startNginxBefore(start: () => Promise<PathService>, uri: string): Promise<PathService> {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await start());
  const { url } = stack.use(await startNginx(service.url + uri));
  const moved = stack.move();
  return { url, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}
