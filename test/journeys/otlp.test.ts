// Traces by configuration: one process and workers export spans, and an unavailable receiver harms nothing.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { freePorts } from '../support/ports.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
/** More than the second that a drain waits for a receiver, for a busy machine. */
const DRAINED_WITHIN_MS = 1_000 + 4_000;
const GIVEN_UP = 'spans cannot be exported; traces have gaps';
const BACK = 'spans can be exported again';
const stack = new AsyncDisposableStack();
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const [dead] = await freePorts(1);
  const away = `http://127.0.0.1:${dead}`;
  environment = {
    ...{ ECHO: echo.url, SOCKETS: away, DEAD: away, OTLP: away },
    POLICIES: join(import.meta.dirname, 'tracing/traced.yaml'),
  };
});
afterAll(() => stack.disposeAsync());

const start = (more: Readonly<Record<string, string>>) =>
  runGateway({
    config: join(import.meta.dirname, 'otlp/gateway.yaml'),
    environment: { ...environment, ...more },
  });

const attributesOf = (receiver: OtlpReceiver) =>
  receiver.spans.map(({ attributes }) =>
    Object.fromEntries(attributes.map(({ key, value }) => [key, value])),
  );

describe.each(['1', '2'])('with %s processes that answer requests', (WORKERS) => {
  it('the receiver has the span of each request once the gateway has drained', async () => {
    await using receiver = await startOtlpReceiver();
    const gateway = await start({ WORKERS, OTLP: receiver.url });
    const client = overHttp1(gateway.https);
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
    const answer = await client.ask({ path: '/api/v1/traced?secret=1', headers });
    const failed = await client.ask({ path: '/api/v4/traced', headers });
    expect([answer.status, failed.status]).toEqual([200, 502]);
    await client[Symbol.asyncDispose]();
    await gateway[Symbol.asyncDispose]();
    expect(receiver.paths).toEqual(new Set(['/v1/traces']));
    expect(receiver.spans).toMatchObject([
      { name: 'GET traced v1', kind: 2, traceId: TRACE, parentSpanId: PARENT, service: 'sundial' },
      { name: 'GET traced v4', kind: 2, traceId: TRACE, parentSpanId: PARENT, service: 'sundial' },
    ]);
    expect(attributesOf(receiver)).toMatchObject([
      { 'http.response.status_code': { intValue: 200 }, 'sundial.stage': { stringValue: 'active' } },
      { 'error.type': { stringValue: 'upstream_refused' } },
    ]);
    expect(JSON.stringify(receiver.spans)).not.toContain('secret');
    const sent = (answer.json.headers as [string, string][]).find(([name]) => name === 'traceparent');
    expect(sent?.[1]).toBe(`00-${TRACE}-${receiver.spans[0]?.spanId}-01`);
  });

  it.each(['away', 'silent'])(
    'a receiver that is %s neither fails a request nor delays the drain',
    async (how) => {
      await using receiver = await startOtlpReceiver();
      receiver.become('silent');
      const gateway = await start({ WORKERS, ...(how === 'silent' && { OTLP: receiver.url }) });
      const client = overHttp1(gateway.https);
      for (let count = 0; count < 50; count += 1)
        expect((await client.ask({ path: '/api/v1/traced' })).status).toBe(200);
      await client[Symbol.asyncDispose]();
      const before = performance.now();
      await gateway[Symbol.asyncDispose]();
      expect(performance.now() - before).toBeLessThan(DRAINED_WITHIN_MS);
    },
  );
});

it('a receiver that refuses spans is logged once, and so is its recovery', async () => {
  await using receiver = await startOtlpReceiver();
  receiver.become('refusing');
  await using gateway = await start({ OTLP: receiver.url });
  await using client = overHttp1(gateway.https);
  const lines = () => gateway.log.filter(({ message }) => message === GIVEN_UP || message === BACK);
  const until = (count: number) =>
    vi.waitFor(
      async () => {
        await client.ask({ path: '/api/v1/traced' });
        expect(lines()).toHaveLength(count);
      },
      { timeout: 20_000, interval: 50 },
    );
  await until(1);
  receiver.become('well');
  await until(2);
  expect(lines()).toMatchObject([
    { level: 'warn', message: GIVEN_UP, reason: expect.any(String) },
    { level: 'info', message: BACK },
  ]);
});

it('tracing follows the sampling share of the settings, unless the client has decided', async () => {
  await using receiver = await startOtlpReceiver();
  const gateway = await start({ OTLP: receiver.url, SAMPLE: '0%' });
  const client = overHttp1(gateway.https);
  const path = '/api/v1/traced';
  await client.ask({ path });
  await client.ask({ path, headers: { traceparent: `00-${TRACE}-${PARENT}-01` } });
  await client.ask({ path, headers: { traceparent: `00-${TRACE}-${PARENT}-00` } });
  await client[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  expect(receiver.spans.map(({ traceId }) => traceId)).toEqual([TRACE]);
});
