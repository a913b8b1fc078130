// Access log lines over real sockets: chosen fields, omitted successes, one line per failure, workers too.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { overHttp1, overHttp2 } from '../support/http-client.ts';
import { expectNothingOfTheCause } from '../support/inside.ts';
import { freePorts } from '../support/ports.ts';

const stack = new AsyncDisposableStack();
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const [dead] = await freePorts(1);
  environment = {
    ECHO: echo.url,
    DEAD: `http://127.0.0.1:${dead}`,
    POLICIES: join(import.meta.dirname, 'logs/policies/echoed.yaml'),
  };
});
afterAll(() => stack.disposeAsync());

const start = (more: Readonly<Record<string, string>>) =>
  runGateway({
    config: join(import.meta.dirname, 'logs/gateway.yaml'),
    environment: { ...environment, ...more },
  });

const linesOf = ({ log }: RunningGateway) =>
  log.flatMap(({ log: kind, time, request_id, ...line }) => (kind === 'access' ? [line] : []));

describe.each(['1', '2'])('with %s processes that answer requests', (WORKERS) => {
  it.each([
    ['HTTP/1.1', overHttp1],
    ['HTTP/2', overHttp2],
  ])('over %s a line has the chosen fields, and a failure has one line with its cause', async (_, open) => {
    await using gateway = await start({ WORKERS });
    await using client = open(gateway.https);
    const { ECHO: target, DEAD: dead } = environment;
    const host = '127.0.0.1';
    expect((await client.ask({ path: '/api/v1/echoed/7?secret=1' })).status).toBe(200);
    expect((await client.ask({ path: '/api/v1/echoed/healthz' })).status).toBe(200);
    const failed = await client.ask({ path: '/api/v2/echoed' });
    expect(failed.status).toBe(502);
    expectNothingOfTheCause(failed);
    expect(JSON.stringify(failed.headers) + failed.text).not.toContain(dead?.slice('http://'.length));
    expect((await client.ask({ path: '/nowhere' })).status).toBe(404);
    await vi.waitFor(() => expect(linesOf(gateway)).toHaveLength(3), { timeout: 20_000 });
    expect(linesOf(gateway)).toEqual([
      { level: 'info', host, path: '/api/v1/echoed/7', status: 200, target },
      {
        level: 'error',
        host,
        path: '/api/v2/echoed',
        status: 502,
        fault: 'upstream_refused',
        upstream: 'echoed-v2',
        target: dead,
        error: {
          code: 'ECONNREFUSED',
          message: expect.stringContaining('ECONNREFUSED'),
          causes: [],
          at: expect.any(Array),
        },
      },
      { level: 'info', host, path: '/nowhere', status: 404 },
    ]);
    expect(gateway.log.filter(({ level, log }) => level === 'error' && log !== 'access')).toEqual([]);
  });

  it('a sampling share of zero logs no successful request, and all other requests', async () => {
    await using gateway = await start({ WORKERS, SAMPLE: '0%' });
    await using client = overHttp1(gateway.https);
    for (const path of ['/api/v1/echoed', '/api/v3/echoed', '/nowhere', '/api/v1/echoed'])
      await client.ask({ path });
    await vi.waitFor(() => expect(linesOf(gateway)).toHaveLength(2), { timeout: 20_000 });
    expect(linesOf(gateway).map(({ status }) => status)).toEqual([502, 404]);
    expect(await gateway.metric('sundial_request_duration_seconds_count{api="echoed",version="v1"}')).toBe(2);
  });
});
