// `npm run test:h2`: the gateway passes as many cases of h2spec as Node's server.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startGateway } from '../../gateway/gateway.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { makeKeyPair } from '../support/key-pairs.ts';

const run = promisify(execFile);
const PROGRAM = 'h2spec';
/** Seconds that a case waits. */
const PATIENCE = '2';
const MISSING = `not installed: ${PROGRAM}. Build it from github.com/summerwind/h2spec; on Debian apt-get has the Go packages it needs.\n`;

interface Result {
  readonly tests: number;
  readonly passed: number;
  /** Number within the section, and title. */
  readonly failed: readonly string[];
}

async function spec(port: number, path: string): Promise<Result> {
  const options = ['-t', '-k', '-o', PATIENCE, '-h', '127.0.0.1', '-p', String(port), '-P', path];
  const { stdout } = await run(PROGRAM, options, { maxBuffer: 16 * 1024 * 1024 }).catch(
    // It exits with 1 if a case fails.
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  const [, tests, passed] = /^(\d+) tests, (\d+) passed/m.exec(stdout) ?? [];
  if (tests === undefined) throw new Error(`${PROGRAM} printed no result:\n${stdout}`);
  const [, list = ''] = stdout.split(/^Failures: *$/m);
  const failed = [...list.matchAll(/^ +× (.*)$/gm)].map(([, title = '']) => title);
  return { tests: Number(tests), passed: Number(passed), failed };
}

async function specOfNode(stack: AsyncDisposableStack): Promise<Result> {
  const answer = (_: Http2ServerRequest, response: Http2ServerResponse): void => void response.end('hello');
  const server = createSecureServer(await makeKeyPair({ names: ['127.0.0.1'] }), answer);
  // Protocol errors of the client are expected.
  server.on('sessionError', () => undefined);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => void server.close());
  const address = server.address();
  return spec(typeof address === 'object' ? (address?.port ?? 0) : 0, '/');
}

async function specOfGateway(stack: AsyncDisposableStack): Promise<Result> {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const folder = await mkdtemp(join(tmpdir(), 'sundial-h2-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const configFile = join(folder, 'gateway.yaml');
  const listeners = { https: { address: '127.0.0.1:0' } };
  await writeFile(
    configFile,
    JSON.stringify({ public: 'https://127.0.0.1', listeners, data: folder, policies: './api.yaml' }),
  );
  const upstreams = { default: { targets: [echo.url], path: '/echo' } };
  const policy = { api: 'a', base: '/a', versions: 'none', access: 'public', upstreams };
  await writeFile(join(folder, 'api.yaml'), JSON.stringify(policy));
  const started = await startGateway({ configFile, environment: {}, log: { write: () => undefined } });
  if (started.kind === 'rejected') throw new Error(JSON.stringify(started.problems));
  stack.defer(() => started.gateway.close());
  return spec(started.gateway.facts.listeners.https?.address.port ?? 0, '/a');
}

async function compare(): Promise<number> {
  const found = await run('which', [PROGRAM]).then(
    () => true,
    () => false,
  );
  if (!found) {
    process.stderr.write(MISSING);
    return 2;
  }
  await using stack = new AsyncDisposableStack();
  const node = await specOfNode(stack);
  const gateway = await specOfGateway(stack);
  for (const [who, { tests, passed, failed }] of Object.entries({ node, gateway }))
    process.stdout.write(`${who}: ${passed} of ${tests}${failed.map((title) => `\n  ${title}`).join('')}\n`);
  return gateway.passed >= node.passed ? 0 : 1;
}

process.exitCode = await compare();
