// Two workers behind one listener, the primary in this process: limits, pauses, pins and metrics hold for both alike.
// How the processes start and end has its own file, workers-process.test.ts.
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { adminWriter } from '../support/admin-write.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { beginPause, endPause } from '../support/pauses.ts';
import { clientPerWorker, workerPids } from '../support/worker-clients.ts';

const NOW = Date.UTC(2026, 10, 20);
const stack = new AsyncDisposableStack();
let issuer: TestIssuer;
let environment: Readonly<Record<string, string>>;
let gateway: RunningGateway;
let clients: readonly Client[];

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  environment = { ECHO: echo.url, ISSUER: issuer.url, WORKERS: '2' };
  gateway = stack.use(await runGateway({ policies: 'workers', lifecycleNow: () => NOW, environment }));
  clients = await clientPerWorker(gateway.https, '/nowhere');
  for (const client of clients) stack.use(client);
});
afterAll(() => stack.disposeAsync());

/** `count` requests to each worker, all at once. */
const askAll = (count: number, path: string): Promise<Answer[]> =>
  Promise.all(clients.flatMap((client) => Array.from({ length: count }, () => client.ask({ path }))));
const statuses = (answers: readonly Answer[]): Readonly<Record<number, number>> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe('a limit with the embedded store', () => {
  it('RL-9, RL-10: is one for all workers: of 200 requests at once exactly the burst passes', async () => {
    expect(statuses(await askAll(100, '/api/v2/quotes'))).toEqual({ 200: 40, 429: 160 });
  });

  it('RL-9: leased units are taken before they are spent: never more than burst + elapsed/T', async () => {
    const began = performance.now();
    let passed = 0;
    for (let round = 0; round < 5; round += 1) {
      const answers = await askAll(90, '/api/v3/quotes');
      // Without numbers a worker went by its own part: this machine kept the primary from answering for a second.
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

describe('the one page of metrics', () => {
  it('adds up what all workers have counted, and says how many there are', async () => {
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

  it('every request has its one line in the one log, whichever worker answered it', async () => {
    const answers = await askAll(20, '/api/v1/open/line');
    const ids = answers.map(({ headers }) => headers['x-request-id']);
    for (const id of ids) expect(await gateway.accessLine(id)).toMatchObject({ path: '/api/v1/open/line' });
    expect(new Set(ids).size).toBe(40);
  });
});

describe('what an operator changes', () => {
  it('a pause is known to every worker once it is acknowledged, and so is its end', async () => {
    const each = async () => (await askAll(1, '/api/v1/quotes')).map(({ status }) => status);
    expect(await each()).toEqual([410, 410]);
    const id = await beginPause(gateway, { api: 'quotes', version: 'v1', until: NOW + 86_400_000 });
    expect(await each()).toEqual([200, 200]);
    await endPause(gateway, id);
    expect(await each()).toEqual([410, 410]);
  });

  it('a pin that one worker stored is the pin everywhere', async () => {
    expect(await versionsFor({ sub: 'acme' })).toEqual(['2026-06-01', '2026-06-01']);
    await using admin = overHttp1(gateway.admin, { tls: false });
    const shown = await admin.ask({ path: '/-/pins/payments/acme' });
    expect(shown.text).toContain('2026-06-01');
  });

  it('a pin that was moved has moved for every worker once that is acknowledged', async () => {
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

  /** What each worker tells the service behind. */
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
  it('is looked up by the primary, whichever worker is asked', async () => {
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

describe('a worker that is killed under load', () => {
  it('takes with it only what it was answering: nothing is refused, and another takes its place', async () => {
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
  it('take no connection with them that comes afterwards: it waits for the next worker', async () => {
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
