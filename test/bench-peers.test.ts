// The configuration files of the compared proxies are valid, so that a benchmark can start.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadAll } from '../gateway/plan/load.ts';
import { installed } from './bench/children.ts';
import { fillTemplate, writeKeys } from './bench/ground.ts';
import { startIssuer } from './bench/issuer.ts';
import { freePorts } from './support/ports.ts';

let folder: string;
let environment: Readonly<Record<string, string>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sundial-bench-'));
  const issuer = await startIssuer();
  const [port, httpsPort] = await freePorts(2);
  environment = {
    ...(await writeKeys(folder, issuer)),
    ...{ BENCH_PORT: `${port}`, BENCH_HTTPS_PORT: `${httpsPort}`, BENCH_ADMIN_PORT: '0' },
    ...{ BENCH_DATA: folder, BENCH_STORE: `embedded:${folder}`, BENCH_ISSUER: issuer.issuer },
    ...{ BENCH_UPSTREAM: 'http://127.0.0.1:9', BENCH_UPSTREAM_ADDRESS: '127.0.0.1:9', BENCH_SMALL: '{}' },
  };
  issuer.stop();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the benchmark', () => {
  it.each(['full', 'plain'])('has a valid %s policy for Sundial', async (policies) => {
    const own = join(import.meta.dirname, 'bench/peers/sundial');
    const { problems } = await loadAll({
      configFile: join(own, 'gateway.yaml'),
      environment: { ...environment, BENCH_POLICIES: join(own, policies) },
      now: Date.now(),
    });
    expect(problems).toEqual([]);
  });

  // Without the program, the test only fills the template.
  it.each([
    ['haproxy-policy.cfg', 'haproxy', ['-c', '-q', '-f']],
    ['haproxy-plain.cfg', 'haproxy', ['-c', '-q', '-f']],
    ['nginx.conf', 'nginx', ['-t', '-q', '-e', 'stderr', '-c']],
    ['upstream-nginx.conf', 'nginx', ['-t', '-q', '-e', 'stderr', '-c']],
    ['Caddyfile', 'caddy', ['validate', '--config']],
  ] as const)('has a file %s that %s accepts', (template, program, words) => {
    const file = fillTemplate(template, folder, environment);
    const path = installed(program);
    if (path === undefined) return;
    const env = { ...process.env, HOME: folder };
    expect(() => execFileSync(path, [...words, file], { env, stdio: 'pipe' })).not.toThrow();
  });
});
