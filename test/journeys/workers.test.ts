// Two workers behind one listener, the primary in this process: both share limits, pauses, pins and metrics.
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { MAX_IN_BATCH } from '../../gateway/policy/usage/ledger.ts';
import { openEmbeddedState } from '../../gateway/stores/embedded/embedded-state.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { onFault } from '../contracts/lasting-stores.ts';
import { newWriter, usageOf } from '../contracts/ledger-store.ts';
import { adminWriter } from '../support/admin-write.ts';
import { operate } from '../support/command.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { beginPause, endPause } from '../support/pauses.ts';
import { freePorts } from '../support/ports.ts';
import { clientPerWorker, workerPids } from '../support/worker-clients.ts';

const NOW = Date.UTC(2026, 10, 20);
/** More than five pages. */
const CROWD = 2_600;
const stack = new AsyncDisposableStack();
let issuer: TestIssuer;
let environment: Readonly<Record<string, string>>;
let gateway: RunningGateway;
let clients: readonly Client[];

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const data = await mkdtemp(join(tmpdir(), 'sundial-workers-'));
  stack.defer(() => rm(data, { recursive: true, force: true }));
  await keepUsage(data);
  const store = `embedded:${data}`;
  const [dead] = await freePorts(1);
  const policies = join(import.meta.dirname, 'workers/{,frozen/}*.yaml');
  environment = {
    ECHO: echo.url,
    DEAD: `http://127.0.0.1:${dead}`,
    ISSUER: issuer.url,
    WORKERS: '2',
    DATA: data,
    STORE: store,
    POLICIES: policies,
  };
  gateway = stack.use(await runGateway({ lifecycleNow: () => NOW, environment }));
  clients = await clientPerWorker(gateway.https, '/nowhere');
  for (const client of clients) stack.use(client);
});
afterAll(() => stack.disposeAsync());

/** Earlier usage: a caller of a version that is frozen now, and many consumers of an API without a policy. */
async function keepUsage(data: string): Promise<void> {
  const { ledger, close } = await openEmbeddedState(data, { onState: () => undefined, onFault });
  const batch = newWriter();
  const watched = [{ api: 'frozen', version: 'v1' }];
  await ledger.add(batch([], { watched, at: Date.UTC(2026, 4, 1) }));
  await ledger.add(batch([usageOf({ api: 'frozen', firstAt: Date.UTC(2026, 5, 1) })]));
  for (let start = 0; start < CROWD; start += MAX_IN_BATCH) {
    const names = Array.from({ length: MAX_IN_BATCH }, (_, index) => `client-${start + index}`);
    await ledger.add(batch(names.map((consumer) => usageOf({ api: 'zoo', consumer }))));
  }
  await close();
}

const askAll = (count: number, path: string): Promise<Answer[]> =>
  Promise.all(clients.flatMap((client) => Array.from({ length: count }, () => client.ask({ path }))));
const statuses = (answers: readonly Answer[]): Readonly<Record<number, number>> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe('a limit with the embedded store', () => {
  it('RL-9, RL-10: is shared: of 200 concurrent requests exactly the burst passes', async () => {
    expect(statuses(await askAll(100, '/api/v2/quotes'))).toEqual({ 200: 40, 429: 160 });
  });

  it('RL-9: leases never admit more than burst + elapsed/T', async () => {
    const began = performance.now();
    let passed = 0;
    for (let round = 0; round < 5; round += 1) {
      const answers = await askAll(90, '/api/v3/quotes');
      // A worker that the primary does not answer in time counts alone, and sends no limit headers.
      passed += answers.filter(
        ({ status, headers }) => status === 200 && 'x-ratelimit-limit' in headers,
      ).length;
      expect(passed).toBeLessThanOrEqual(300 + (performance.now() - began) / 10);
    }
    expect(passed).toBeGreaterThan(100);
    const counted = 'sundial_ratelimit_decisions_total{api="quotes",version="v3",policy="default"';
    expect(await gateway.metric(`${counted},decision="allowed"}`)).toBe(passed);
  });
});

describe('the shared metrics page', () => {
  it('adds up the counts of all workers, and shows their number', async () => {
    const answers = await askAll(75, '/api/v1/open');
    expect(statuses(answers)).toEqual({ 200: 150 });
    const labels = 'api="open",version="v1"';
    expect(
      await gateway.metric(`sundial_requests_total{${labels},stage="active",method="GET",code="200"}`),
    ).toBe(150);
    expect(await gateway.metric(`sundial_request_duration_seconds_count{${labels}}`)).toBe(150);
    expect(await gateway.metric(`sundial_request_duration_seconds_bucket{le="+Inf",${labels}}`)).toBe(150);
    expect(await gateway.metric('sundial_workers')).toBe(2);
    expect(
      await gateway.metric('sundial_version_info{api="open",version="v1",stage="active",successor=""}'),
    ).toBe(1);
    expect(await gateway.metric('process_start_time_seconds')).toBeGreaterThan(0);
  });

  it('a target is failing by the calls of all workers', async () => {
    await using admin = overHttp1(gateway.admin, { tls: false });
    const target = async () => {
      const { json } = await admin.ask({ path: '/-/upstreams' });
      const { upstreams } = json as {
        upstreams: readonly { upstream: string; targets: readonly object[] }[];
      };
      return upstreams.find(({ upstream }) => upstream === 'dead')?.targets[0];
    };
    expect(statuses(await askAll(2, '/api/dead'))).toEqual({ 502: 4 });
    expect(await target()).toMatchObject({ recent: { calls: 4, failed: 4 }, failing: null });
    expect(statuses(await askAll(1, '/api/dead'))).toEqual({ 502: 2 });
    expect(await target()).toMatchObject({
      recent: { calls: 6, failed: 6 },
      failing: { share: 1, error: 'refused', since: expect.any(String) },
    });
  });

  it('every request has one line in the log, whichever worker served it', async () => {
    const answers = await askAll(20, '/api/v1/open/line');
    const ids = answers.map(({ headers }) => headers['x-request-id']);
    for (const id of ids) expect(await gateway.accessLine(id)).toMatchObject({ path: '/api/v1/open/line' });
    expect(new Set(ids).size).toBe(40);
  });
});

describe('an idempotency key with the embedded store', () => {
  it('IDM-5: is shared: thirty concurrent requests execute once', async () => {
    const asked = {
      path: '/api/v1/open/placed',
      method: 'POST',
      headers: { 'idempotency-key': 'placed' },
      body: 'x',
    };
    const answers = await Promise.all(
      clients.flatMap((client) => Array.from({ length: 15 }, () => client.ask(asked))),
    );
    expect(Object.keys(statuses(answers)).filter((status) => status !== '200' && status !== '409')).toEqual(
      [],
    );
    const again = await Promise.all(clients.map((client) => client.ask(asked)));
    expect(again.map(({ headers }) => headers['idempotency-replayed'])).toEqual(['true', 'true']);
    // The echo shows which request it received.
    const told = [...answers, ...again].filter(({ status }) => status === 200).map(({ text }) => text);
    expect(new Set(told).size).toBe(1);
  });
});

describe('changes by an operator', () => {
  it('a pause and its end apply to every worker once acknowledged', async () => {
    const each = async () => (await askAll(1, '/api/v1/quotes')).map(({ status }) => status);
    expect(await each()).toEqual([410, 410]);
    const id = await beginPause(gateway, { api: 'quotes', version: 'v1', until: NOW + 86_400_000 });
    expect(await each()).toEqual([200, 200]);
    await endPause(gateway, id);
    expect(await each()).toEqual([410, 410]);
  });

  it('a pin that one worker stored applies to every worker', async () => {
    expect(await versionsFor({ sub: 'acme' })).toEqual(['2026-06-01', '2026-06-01']);
    await using admin = overHttp1(gateway.admin, { tls: false });
    const shown = await admin.ask({ path: '/-/pins/payments/acme' });
    expect(shown.text).toContain('2026-06-01');
  });

  it('a moved pin applies to every worker once acknowledged', async () => {
    const globex = { sub: 'globex', account_created: '2024-10-01' };
    expect(await versionsFor(globex)).toEqual(['2024-09-01', '2024-09-01']);
    await using admin = overHttp1(gateway.admin, { tls: false });
    const move = adminWriter(admin, await gateway.adminToken());
    const path = '/-/pins/payments/globex';
    const by = { by: 'ops', why: 'asked for it' };
    const body = { version: '2026-06-01', created: '2024-10-01', ...by };
    expect((await move({ method: 'PUT', path, body })).status).toBe(200);
    expect(await versionsFor(globex)).toEqual(['2026-06-01', '2026-06-01']);
    expect((await move({ method: 'POST', path: `${path}/roll-back`, body: by })).status).toBe(200);
    expect(await versionsFor(globex)).toEqual(['2024-09-01', '2024-09-01']);
  });

  /** The version that each worker sends to the service. */
  async function versionsFor(claims: Record<string, string>): Promise<unknown[]> {
    const authorization = `Bearer ${await issuer.sign({ client_id: claims.sub, ...claims })}`;
    const told: unknown[] = [];
    for (const client of clients) {
      const { json } = await client.ask({ path: '/api/payments', headers: { authorization } });
      const lines = json.headers as [string, string][];
      told.push(lines.find(([name]) => name.toLowerCase() === 'api-version')?.[1]);
    }
    return told;
  }
});

describe('a consumer’s own usage', () => {
  it('is available from every worker', async () => {
    const authorization = `Bearer ${await issuer.sign({ client_id: 'hooli' })}`;
    for (const client of clients) {
      const answer = await client.ask({
        path: '/.well-known/lifecycle/usage.json',
        headers: { authorization },
      });
      expect(answer).toMatchObject({ status: 200, json: { consumer: 'hooli', versions: [] } });
    }
  });
});

describe('a frozen version', () => {
  it('refuses new consumers in every worker, and no others', async () => {
    const statusesOf = async (consumer: string) => {
      const headers = { authorization: `Bearer ${await issuer.sign({ client_id: consumer })}` };
      const asked = clients.map((client) => client.ask({ path: '/api/v1/frozen/7', headers }));
      return (await Promise.all(asked)).map(({ status }) => status);
    };
    expect(await statusesOf('acme')).toEqual([200, 200]);
    expect(await statusesOf('newcomer')).toEqual([403, 403]);
    expect(await statusesOf('newcomer')).toEqual([403, 403]);
    const refused = 'sundial_retired_requests_total{api="frozen",version="v1",action="frozen"}';
    expect(await gateway.metric(refused)).toBe(4);
  });
});

describe('thousands of usage records', () => {
  const usage = async (...words: readonly string[]) => {
    const environment = { SUNDIAL_ADMIN_TOKEN: await gateway.adminToken() };
    const admin = ['--admin', `http://127.0.0.1:${gateway.admin}`];
    const { stdout, stderr } = await operate(['usage', '--api', 'zoo', ...words, ...admin], { environment });
    expect(stderr).toBe('');
    return stdout;
  };
  const everybody = Array.from({ length: CROWD }, (_, index) => `client-${index}`).toSorted();

  it('are fetched page by page, each consumer once, in CSV and JSON', async () => {
    const [, ...lines] = (await usage('--format', 'csv')).trimEnd().split('\r\n');
    expect(lines.map((line) => line.split(',')[2])).toEqual(everybody);
    const { consumers, versions, next } = JSON.parse(await usage('--format', 'json'));
    expect(consumers.map(({ consumer }: { consumer: string }) => consumer)).toEqual(everybody);
    expect(versions).toMatchObject([{ api: 'zoo', consumers: CROWD, calls: CROWD }]);
    expect(next).toBeNull();
  });

  it('are cut off in the table, which has the number of the others', async () => {
    const table = await usage();
    expect(table).toContain('\n  is in no policy any more; 2,600 calls by 2,600 consumers in 30 days\n');
    expect(table.match(/^ {4}client-/gm)).toHaveLength(50);
    expect(table).toContain('\n    and 2,550 more consumers with 2,550 calls; --format csv shows all\n');
  });
});

describe('a worker that is killed under load', () => {
  it('loses only its running requests, and is replaced', async () => {
    const failures: string[] = [];
    let answered = 0;
    let going = true;
    const ask = () =>
      new Promise<void>((resolve) => {
        const options = {
          host: '127.0.0.1',
          port: gateway.https,
          path: '/api/v1/open?delay=5',
          agent: false,
        };
        request({ ...options, rejectUnauthorized: false, servername: '' }, (response) => {
          response.resume().once('close', () => {
            if (response.complete && response.statusCode === 200) answered += 1;
            else failures.push(`cut or ${response.statusCode}`);
            resolve();
          });
        })
          .on('error', ({ code = 'no code' }: NodeJS.ErrnoException) => {
            failures.push(code);
            resolve();
          })
          .end();
      });
    const asking = 16;
    const load = Promise.all(
      Array.from({ length: asking }, async () => {
        while (going) await ask();
      }),
    );
    await vi.waitFor(() => expect(answered).toBeGreaterThan(100), { timeout: 60_000 });
    const shown = await requestsShown();
    const [victim = 0, survivor] = workerPids();
    process.kill(victim, 'SIGKILL');
    await vi.waitFor(
      async () => {
        expect(workerPids()).toHaveLength(2);
        expect(await gateway.metric('sundial_workers')).toBe(2);
      },
      { timeout: 60_000, interval: 100 },
    );
    const sofar = answered;
    await vi.waitFor(() => expect(answered).toBeGreaterThan(sofar + 100), { timeout: 60_000 });
    going = false;
    await load;
    expect(workerPids()).toContain(survivor);
    expect(workerPids()).not.toContain(victim);
    expect(failures.filter((failure) => failure !== 'ECONNRESET')).toEqual([]);
    expect(failures.length).toBeLessThanOrEqual(asking);
    expect(await requestsShown()).toBeGreaterThan(shown);
    expect(gateway.log).toContainEqual(
      expect.objectContaining({ worker: victim, reason: 'SIGKILL', level: 'warn' }),
    );
  });

  async function requestsShown(): Promise<number> {
    const series = 'sundial_requests_total{api="open",version="v1",stage="active",method="GET",code="200"}';
    return (await gateway.metric(series)) ?? 0;
  }
});

describe('all workers, killed at once', () => {
  it('lose no later connection: it waits for the next worker', async () => {
    const victims = workerPids();
    for (const victim of victims) process.kill(victim, 'SIGKILL');
    const left = () => workerPids().filter((pid) => victims.includes(pid));
    await vi.waitFor(() => expect(left()).toEqual([]), { timeout: 20_000, interval: 5 });
    await using own = new AsyncDisposableStack();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => own.use(overHttp1(gateway.https)).ask({ path: '/api/v1/open' })),
    );
    expect(statuses(answers)).toEqual({ 200: 12 });
  });
});
