// `npm run test:prometheus`: a real Prometheus scrapes a gateway, evaluates the alert rules and answers the dashboard.
// Needs `prometheus` and `promtool` on the PATH. Ends with 1 where something promised is not seen within a minute.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startGateway } from '../../gateway/gateway.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { freePorts } from '../support/ports.ts';

const ROOT = new URL('../../', import.meta.url);
const WITHIN_MS = 60_000;
const DAY_MS = 86_400_000;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const day = (fromNow: number): string => new Date(Date.now() + fromNow * DAY_MS).toISOString().slice(0, 10);

const GATEWAY = `public: http://127.0.0.1
listeners:
  http: { address: "127.0.0.1:0", mode: serve }
  admin: { address: "127.0.0.1:0" }
data: "\${env:DATA}"
store: embedded
guard: off
policies: ./policies/*.yaml
`;

const policy = (upstream: string): string => `api: orders
audience: internal
base: /api/orders
resolve: [{ path: "/api/{version}/orders" }, { default: v2 }]
access: public
limits: { rate: 600/1m, by: address, deprecated: 50% }
upstreams:
  v1: { targets: ["${upstream}"], path: /echo }
  v2: { targets: ["${upstream}"], path: /echo }
rules: { notice-period: off }
versions:
  v1: { released: 2024-06-01, deprecated: ${day(-300)}, sunset: ${day(10)}, successor: v2, guide: "https://docs.example.com/" }
  v2: { released: 2025-06-01 }
`;

/** The rules as they are, but that nothing has to last before it is an alert. */
const hasty = (rules: string): string => rules.replaceAll(/^( *for:) \w+$/gm, '$1 0s');

const prometheusFile = (target: string): string => `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [rules.yml]
scrape_configs:
  - { job_name: sundial, static_configs: [{ targets: ["${target}"] }] }
`;

/** @throws Error after a minute without what is waited for */
async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const from = performance.now();
  for (;;) {
    const seen = await look();
    if (seen !== undefined) {
      say(`  ${what}: after ${((performance.now() - from) / 1000).toFixed(1)} s`);
      return seen;
    }
    if (performance.now() - from > WITHIN_MS) throw new Error(`${what}: not within a minute`);
    await pause(250);
  }
}

/** Undefined while Prometheus does not listen yet, or says (503, in plain text) that it is still starting. */
async function query(base: string, path: string): Promise<unknown> {
  try {
    const answer = await fetch(`${base}/api/v1/${path}`);
    if (answer.status === 503) {
      await answer.body?.cancel();
      return undefined;
    }
    const body = (await answer.json()) as { status: string; data?: unknown; error?: string };
    if (body.status !== 'success') throw new Error(`${path}: ${body.error}`);
    return body.data;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

async function firing(base: string, alert: string): Promise<boolean> {
  const data = (await query(base, 'alerts')) as
    | { alerts: readonly { labels: Record<string, string>; state: string }[] }
    | undefined;
  return data?.alerts.some(({ labels, state }) => labels.alertname === alert && state === 'firing') ?? false;
}

/** The variables of the dashboard stand for everything. */
const filledIn = (expr: string): string =>
  expr.replaceAll(/\$(api|version|consumer)\b/g, '.*').replaceAll('$__rate_interval', '1m');

async function dashboardExpressions(): Promise<readonly string[]> {
  const text = await readFile(new URL('config/grafana/dashboards/sundial.json', ROOT), 'utf8');
  const { panels, annotations } = JSON.parse(text) as {
    panels: readonly { targets: readonly { expr: string }[] }[];
    annotations: { list: readonly { expr: string }[] };
  };
  const targets = panels.flatMap((panel) => panel.targets);
  return [...targets, ...annotations.list].map(({ expr }) => filledIn(expr));
}

function lint(page: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = execFile('promtool', ['check', 'metrics'], (error, stdout, stderr) =>
    error === null ? resolve(stdout + stderr) : reject(new Error(`promtool: ${stdout}${stderr}`)),
  );
  child.stdin?.end(page);
  return promise;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  child.kill('SIGTERM');
  await promise;
}

async function run(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sundial-prometheus-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  await mkdir(join(folder, 'policies'));
  const [configFile, policyFile] = [join(folder, 'gateway.yaml'), join(folder, 'policies', 'orders.yaml')];
  await writeFile(configFile, GATEWAY);
  await writeFile(policyFile, policy(echo.url));
  const started = await startGateway({
    configFile,
    environment: { DATA: join(folder, 'data') },
    cwd: folder,
    log: { write: () => undefined },
  });
  if (started.kind === 'rejected') throw new Error(started.problems.map(({ message }) => message).join('\n'));
  const { gateway } = started;
  stack.defer(gateway.close);
  const { http, admin } = gateway.facts.listeners;
  const page = await (await fetch(`http://127.0.0.1:${admin?.address.port}/metrics`)).text();
  await lint(page);
  say('  promtool finds nothing to say of the page');

  const [port] = await freePorts(1);
  await writeFile(
    join(folder, 'rules.yml'),
    hasty(await readFile(new URL('config/prometheus/rules/sundial.yml', ROOT), 'utf8')),
  );
  await writeFile(join(folder, 'prometheus.yml'), prometheusFile(`127.0.0.1:${admin?.address.port}`));
  const prometheus = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  stack.defer(() => ended(prometheus));
  const base = `http://127.0.0.1:${port}`;
  await until('Prometheus has scraped the gateway', async () => {
    const data = (await query(base, 'query?query=sundial_config_info')) as { result: unknown[] } | undefined;
    return data !== undefined && data.result.length > 0 ? true : undefined;
  });

  const call = async () => {
    const answer = await fetch(`http://127.0.0.1:${http?.address.port}/api/v1/orders`);
    if (answer.status !== 200) throw new Error(`the deprecated version answered ${answer.status}`);
    await answer.arrayBuffer();
  };
  await until('calls of a version that ends in ten days are an alert', async () => {
    await call();
    return (await firing(base, 'DeprecatedUsageNearSunset')) || undefined;
  });

  await writeFile(policyFile, policy(echo.url).replace('sunset:', 'sunsett:'));
  await gateway.reload();
  await until(
    'policies that were refused are an alert',
    async () => (await firing(base, 'GatewayConfigReloadFailed')) || undefined,
  );
  await writeFile(policyFile, policy(echo.url));
  await gateway.reload();
  await until(
    'and no more, once they are mended',
    async () => !(await firing(base, 'GatewayConfigReloadFailed')) || undefined,
  );

  const expressions = await dashboardExpressions();
  let empty = 0;
  for (const expr of expressions) {
    const data = (await query(base, `query?query=${encodeURIComponent(expr)}`)) as
      | { result: unknown[] }
      | undefined;
    if (data === undefined) throw new Error(`${expr}: Prometheus no longer answers`);
    if (data.result.length === 0) empty += 1;
  }
  say(`  ${expressions.length} queries of the dashboard are answered, ${empty} of them by nothing yet`);
}

await run();
