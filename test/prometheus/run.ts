// `npm run test:prometheus`: tests alerts and dashboard queries with the installed Prometheus.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startGateway } from '../../gateway/gateway.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { freePorts } from '../support/ports.ts';
import { startFailingWebhooks, startLateWebhooks } from './failing-webhooks.ts';
import { expectQuietHour } from './good-hour.ts';
import { day, startLateGateway, startSickGateway } from './sick-gateway.ts';

const ROOT = new URL('../../', import.meta.url);
const WITHIN_MS = 60_000;
const CALLERS = 20_000;
const MAX_CALLERS = 300_000;
/** A quarter of a second each. */
const GOOD_ROUNDS = 24;
/** The guard sets it once a minute, which is longer than this run waits. */
const LOOKED_AT_BY_THE_MINUTE = 'sundial_version_retirement_ready';

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const GATEWAY = `public: https://127.0.0.1
listeners:
  https: { address: "127.0.0.1:0" }
  http: { address: "127.0.0.1:0", mode: serve }
  admin: { address: "127.0.0.1:0" }
data: "\${env:DATA}"
store: embedded
guard: off
identity: { keys: { header: X-API-Key } }
policies: ./policies/*.yaml
`;

const GUIDE = 'successor: v2, guide: "https://docs.example.com/"';

const policy = (upstream: string): string => `api: orders
audience: internal
base: /api/orders
resolve: [{ path: "/api/{version}/orders" }, { default: v2 }]
access: public
limits: { rate: 6000/1m, by: address, deprecated: 50% }
upstreams:
  v1: { targets: ["${upstream}"], path: /echo, health: { path: /echo, every: 5s } }
  v2: { targets: ["${upstream}"], path: /echo }
rules: { notice-period: off }
versions:
  v1: { released: 2024-06-01, deprecated: ${day(-300)}, sunset: ${day(10)}, ${GUIDE}, retire_when: { consumers_below: 1 }, operations: { GET /search: {} } }
  v2: { released: 2025-06-01 }
`;

/** Behind API keys and near its sunset. Refused requests are not calls of it. */
const guarded = (upstream: string): string => `api: guarded
audience: internal
base: /api/guarded
resolve: [{ path: "/api/{version}/guarded" }]
access: { identity: keys, scopes: any }
upstreams:
  v1: { targets: ["${upstream}"], path: /echo }
  v2: { targets: ["${upstream}"], path: /echo }
rules: { notice-period: off }
versions:
  v1: { released: 2024-06-01, deprecated: ${day(-300)}, sunset: ${day(10)}, ${GUIDE} }
  v2: { released: 2025-06-01 }
`;

const slow = (upstream: string): string => `api: slow
base: /api/slow
access: public
upstreams:
  slow: { targets: ["${upstream}"], path: /echo }
versions: none
`;

/** In a brownout, behind API keys, with an upstream at a closed port. */
const troubled = (port: number): string => `api: troubled
audience: internal
base: /api/troubled
resolve: [{ path: "/api/{version}/troubled" }, { default: v2 }]
access: { identity: keys, scopes: any }
upstreams:
  v1: { targets: ["http://127.0.0.1:${port}"] }
  v2: { targets: ["http://127.0.0.1:${port}"] }
rules: { notice-period: off }
versions:
  v1:
    released: 2024-06-01
    deprecated: ${day(-300)}
    sunset: ${day(60)}
    successor: v2
    guide: "https://docs.example.com/"
    brownouts: [{ from: "${new Date(Date.now() - 3_600_000).toISOString().slice(0, 19)}Z", for: 3h, announced: ${day(-90)} }]
  v2: { released: 2025-06-01, access: public }
`;

/** The same rules, in which each condition fires at once. */
const hasty = (rules: string): string => rules.replaceAll(/^( *for:) \w+$/gm, '$1 0s');

const JOBS = ['sundial', 'sundial-webhooks'] as const;

const PROMETHEUS = `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [rules.yml]
scrape_configs:
${JOBS.map((job) => `  - { job_name: ${job}, file_sd_configs: [{ files: [${job}.json], refresh_interval: 1s }] }\n`).join('')}`;

/** What Prometheus scrapes: the targets by job, for each cluster. */
type Scraped = Readonly<Record<(typeof JOBS)[number], Readonly<Record<string, readonly string[]>>>>;

async function scrape(folder: string, scraped: Scraped): Promise<void> {
  for (const job of JOBS) {
    const groups = Object.entries(scraped[job]).map(([cluster, targets]) => ({
      targets,
      labels: { cluster },
    }));
    await writeFile(join(folder, `${job}.new`), JSON.stringify(groups));
    await rename(join(folder, `${job}.new`), join(folder, `${job}.json`));
  }
}

/**
 * `look` returns what is still missing, or undefined.
 *
 * @throws Error if something is still missing after a minute
 */
async function until(what: string, look: () => Promise<string | undefined>): Promise<void> {
  const from = performance.now();
  for (;;) {
    const missing = await look();
    if (missing === undefined) {
      say(`  ${what}: after ${((performance.now() - from) / 1000).toFixed(1)} s`);
      return;
    }
    if (performance.now() - from > WITHIN_MS) throw new Error(`${what}: not within a minute: ${missing}`);
    await pause(250);
  }
}

const NOT_YET = 'nothing was seen';

/** Undefined while Prometheus does not listen, or responds with 503 and plain text because it is starting. */
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

const fired = new Set<string>();

async function firingAlerts(base: string): Promise<readonly string[]> {
  const data = (await query(base, 'alerts')) as
    | { alerts: readonly { labels: Record<string, string>; state: string }[] }
    | undefined;
  const firing = (data?.alerts ?? []).filter(({ state }) => state === 'firing');
  for (const { labels } of firing) {
    if (labels.job === undefined || labels.cluster === undefined)
      throw new Error(`an alert has no job or no cluster: ${JSON.stringify(labels)}`);
    fired.add(labels.alertname ?? '');
  }
  return firing.map(({ labels: { alertname = '' } }) => alertname);
}

const firing = async (base: string, alert: string): Promise<boolean> =>
  (await firingAlerts(base)).includes(alert);

/** @throws Error if an alert fires */
async function expectQuiet(base: string): Promise<void> {
  const alerts = await firingAlerts(base);
  if (alerts.length > 0) throw new Error(`alerts in good traffic: ${alerts.join(', ')}`);
}

/** Replaces the variables of the dashboard by patterns that match everything. */
const filledIn = (expr: string): string =>
  expr.replaceAll(/\$(api|version|consumer)\b/g, '.*').replaceAll('$__rate_interval', '1m');

interface Result {
  readonly result: readonly unknown[];
}

const ask = async (base: string, expr: string) =>
  (await query(base, `query?query=${encodeURIComponent(expr)}`)) as Result | undefined;

/** The metrics that a page declares, with the series of each histogram. */
const namesOn = (page: string): ReadonlySet<string> =>
  new Set(
    [...page.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name],
    ),
  );

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
  const [port = 0, dead = 0] = await freePorts(2);
  await writeFile(join(folder, 'policies', 'troubled.yaml'), troubled(dead));
  await writeFile(join(folder, 'policies', 'guarded.yaml'), guarded(echo.url));
  await writeFile(join(folder, 'policies', 'slow.yaml'), slow(echo.url));
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
  const webhooksUp = stack.use(new AsyncDisposableStack());
  const webhooks = webhooksUp.adopt(await startFailingWebhooks(dead), (service) => service.close());
  const scraped = [`127.0.0.1:${admin?.address.port}`, webhooks.scraped] as const;
  const pages = await Promise.all(
    scraped.map(async (host) => (await fetch(`http://${host}/metrics`)).text()),
  );
  for (const page of pages) await lint(page);
  say('  promtool accepts their pages');

  const rules = await readFile(new URL('config/prometheus/rules/sundial.yml', ROOT), 'utf8');
  const names = namesOn(pages.join(''));
  for (const [name] of rules.matchAll(/\bsundial_\w+/g))
    if (!names.has(name)) throw new Error(`a rule asks for ${name}, which no page has`);
  await writeFile(join(folder, 'rules.yml'), hasty(rules));
  await writeFile(join(folder, 'prometheus.yml'), PROMETHEUS);
  await scrape(folder, { sundial: { east: [scraped[0]] }, 'sundial-webhooks': { east: [scraped[1]] } });
  const prometheus = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
      '--enable-feature=exemplar-storage',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  stack.defer(() => ended(prometheus));
  const base = `http://127.0.0.1:${port}`;
  await until('Prometheus has scraped the gateway and the webhooks service', async () => {
    const both = 'sundial_config_info and on () sundial_webhook_lag_seconds';
    return (await ask(base, both))?.result.length ? undefined : NOT_YET;
  });

  const call = async (path: string, expected: number) => {
    const answer = await fetch(`http://127.0.0.1:${http?.address.port}${path}`);
    if (answer.status !== expected) throw new Error(`${path} was answered ${answer.status}, not ${expected}`);
    await answer.arrayBuffer();
  };
  const callAll = async () => {
    await call('/api/v1/orders', 200);
    await call('/api/v1/troubled', 410);
    await call('/api/v2/troubled', 502);
  };
  for (let round = 0; round < GOOD_ROUNDS; round += 1) {
    await call('/api/v2/orders', 200);
    await call('/api/v1/guarded', 401);
    await pause(250);
    await expectQuiet(base);
  }
  say('  good traffic, and requests without a key, are no alert');

  let requests = 0;
  const series = await expectQuietHour({
    folder,
    rules,
    scraped: { sundial: scraped[0], 'sundial-webhooks': scraped[1] },
    traffic: async (scrape) => {
      const calls: (readonly [path: string, status: number])[] = Array.from({ length: 20 }, () => [
        '/api/v2/orders',
        200,
      ]);
      calls.push(
        ['/api/slow', 200],
        ['/api/v1/guarded', 401],
        ['/api/v2/nowhere', 404],
        ['/api/v9/orders', 404],
      );
      // One of 500 requests fails, as upstreams sometimes do.
      if (scrape % 20 === 0) calls.push(['/api/v2/orders?status=503', 503]);
      await Promise.all(calls.map(([path, status]) => call(path, status)));
      requests += calls.length;
    },
  });
  say(`  an hour of ${requests} requests, ${series} series, is no alert`);

  await until('calls of a version that ends in ten days are an alert', async () => {
    await callAll();
    return (await firing(base, 'DeprecatedUsageNearSunset')) ? undefined : NOT_YET;
  });

  for (const [what, alert] of [
    ['an upstream that does not answer', 'GatewayUpstreamFailing'],
    ['answers of 502', 'GatewayServerErrors'],
  ] as const)
    await until(`${what} is an alert`, async () => {
      await callAll();
      return (await firing(base, alert)) ? undefined : NOT_YET;
    });

  await until('an upstream that takes three seconds is an alert', async () => {
    await Promise.all(Array.from({ length: 5 }, () => call('/api/slow?delay=3000', 200)));
    return (await firing(base, 'GatewayUpstreamSlow')) ? undefined : NOT_YET;
  });

  await webhooks.tellOfAnOrder();
  await until('a delivery that was given up is an alert', async () =>
    (await firing(base, 'WebhookDeliveriesExhausted')) ? undefined : NOT_YET,
  );

  await writeFile(policyFile, policy(echo.url).replace('sunset:', 'sunsett:'));
  await gateway.reload();
  await until('policies that were refused are an alert', async () =>
    (await firing(base, 'GatewayConfigReloadFailed')) ? undefined : NOT_YET,
  );
  await writeFile(policyFile, policy(echo.url));
  await gateway.reload();
  await until('and no more, once they are mended', async () =>
    (await firing(base, 'GatewayConfigReloadFailed')) ? 'it is one still' : undefined,
  );

  const expressions = await dashboardExpressions();
  await until(`each of ${expressions.length} queries of the dashboard is answered by something`, async () => {
    await callAll();
    const answers = await Promise.all(expressions.map((expr) => ask(base, expr)));
    const empty = expressions.filter(
      (expr, index) => !answers[index]?.result.length && !expr.includes(LOOKED_AT_BY_THE_MINUTE),
    );
    return empty.length === 0 ? undefined : empty.join('\n');
  });
  await until('Prometheus knows a trace behind the durations', async () => {
    const span = `start=${Date.now() / 1000 - 600}&end=${Date.now() / 1000 + 60}`;
    const known = await query(base, `query_exemplars?query=sundial_request_duration_seconds_bucket&${span}`);
    return JSON.stringify(known)?.includes('"trace_id"') ? undefined : NOT_YET;
  });

  const late = stack.adopt(await startLateWebhooks(), (service) => service.close());
  const sick = stack.adopt(await startSickGateway(join(folder, 'sick'), echo.url, dead), (each) =>
    each.close(),
  );
  const slowClock = stack.adopt(await startLateGateway(join(folder, 'late'), echo.url), (each) =>
    each.close(),
  );
  await scrape(folder, {
    sundial: { east: [scraped[0]], west: [sick.scraped, slowClock.scraped] },
    'sundial-webhooks': { east: [scraped[1]], west: [late.scraped] },
  });
  for (const [what, alert] of [
    ['a policy that was refused at the start', 'PolicyQuarantined'],
    ['two gateways with different policies', 'GatewayConfigSkew'],
    ['a clock that is late', 'SunsetPassedWithoutRetirement'],
    ['a certificate with five days left', 'GatewayCertificateExpiresSoon'],
    ['an upstream without a healthy target', 'GatewayUpstreamDown'],
  ] as const)
    await until(`${what} is an alert`, async () => ((await firing(base, alert)) ? undefined : NOT_YET));

  const author = { by: 'a test', why: 'a fault' };
  await sick.write('/-/pauses', { api: 'flooded', version: 'v1', for: '10d', ...author });
  await until('a pause is an alert', async () =>
    (await firing(base, 'RetirementPaused')) ? undefined : NOT_YET,
  );

  for (let order = 0; order < 3; order += 1) await late.tellOfAnOrder();
  late.wait();
  await until('deliveries that wait behind a silent endpoint are an alert', async () =>
    (await firing(base, 'WebhooksLate')) ? undefined : NOT_YET,
  );

  const contact = 'api@acme.example';
  const { secret } = await sick.write('/-/keys', { consumer: 'acme', contact, ...author });
  await until('a mail server that is away is an alert', async () => {
    await sick.call('/api/v1/mailed', { 'x-api-key': String(secret) });
    await sick.write('/-/notices', author);
    return (await firing(base, 'GatewayMailFailed')) ? undefined : NOT_YET;
  });

  await sick.flood('/api/v1/ended', 1_000);
  await until('calls of a version that has ended are an alert', async () =>
    (await firing(base, 'RetiredVersionStillCalled')) ? undefined : NOT_YET,
  );

  await until('more requests than the gateway takes are an alert', async () => {
    await Promise.all(Array.from({ length: 60 }, () => sick.call('/api/v2/ended?delay=500')));
    return (await firing(base, 'GatewayShedsRequests')) ? undefined : NOT_YET;
  });

  await sick.loseDataFolder();
  await until('a store that is away is an alert', async () => {
    await sick.call('/api/v1/flooded');
    return (await firing(base, 'GatewayStoreDown')) ? undefined : NOT_YET;
  });
  // The ledger buffers 200,000 callers while its store is unavailable.
  let callers = 0;
  while (!(await firing(base, 'GatewayLedgerLosesCalls'))) {
    if (callers > MAX_CALLERS) throw new Error('calls for which the ledger has no room are no alert');
    await sick.flood('/api/v1/flooded', CALLERS, callers);
    callers += CALLERS;
  }
  say(`  calls of ${callers} addresses, more than the ledger holds, are an alert`);
  await until('a log that nobody reads is an alert', async () =>
    (await firing(base, 'GatewayLogDropsLines')) ? undefined : NOT_YET,
  );

  await webhooksUp.disposeAsync();
  await until('a process that is down is an alert', async () =>
    (await firing(base, 'GatewayDown')) ? undefined : NOT_YET,
  );
  const never = [...rules.matchAll(/- alert: (\w+)/g)].flatMap(([, alert = '']) =>
    fired.has(alert) ? [] : alert,
  );
  if (never.length > 0) throw new Error(`alerts that no fault has fired: ${never.join(', ')}`);
  say(`  each of ${fired.size} alerts was fired by a fault, with its job and its cluster`);
}

await run();
