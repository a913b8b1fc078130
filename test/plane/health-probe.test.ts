// One health check over real sockets: its result, its request, and its end.
import { createServer as createTlsServer } from 'node:https';
import { afterEach, describe, expect, it } from 'vitest';
import type { UpstreamPlan } from '../../gateway/plan/plan.ts';
import { connectTarget } from '../../gateway/plane/general/client/http-connections.ts';
import { Slot } from '../../gateway/upstream/concurrency-limit.ts';
import { createDeadlines, processClock } from '../../gateway/upstream/deadlines.ts';
import { createPools, type Pools, probeThrough } from '../../gateway/upstream/upstreams.ts';
import { upstream as sample } from '../support/exchange-samples.ts';
import { freePorts } from '../support/ports.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';
import { makeCertificate, startUntrustedUpstream } from '../support/untrusted-upstream.ts';

const RULES = { path: '/healthz?deep=1', every: 1_000, timeout: 2_000, healthy: 1, unhealthy: 1 };
const TIMEOUTS = { connect: 1_000, headers: 1_000, idle: 1_000, total: 1_000 };
const stack: AsyncDisposable[] = [];
const startDeadline = createDeadlines(processClock);
let pools: Pools | undefined;

afterEach(async () => {
  await pools?.close();
  pools = undefined;
  for (const each of stack.splice(0)) await each[Symbol.asyncDispose]();
});

function check(
  url: string,
  changes: Partial<UpstreamPlan> = {},
  timeout = RULES.timeout,
  stop = new AbortController(),
) {
  pools ??= createPools({ connect: connectTarget, startDeadline });
  return probeThrough(pools)({
    upstream: { ...sample, timeouts: TIMEOUTS, targets: [{ origin: url }], ...changes },
    target: { origin: url },
    rules: { ...RULES, timeout },
    signal: stop.signal,
  });
}

async function answering(answer: string) {
  const upstream = await startRawUpstream((_target, socket) => socket.write(answer));
  stack.push(upstream);
  return upstream;
}

describe('a health check', () => {
  it.each([
    ['200 is healthy', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok', undefined],
    ['204 is healthy', 'HTTP/1.1 204 No Content\r\n\r\n', undefined],
    ['a redirect is healthy', 'HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n', undefined],
    [
      'an interim response is ignored',
      'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
      undefined,
    ],
    ['404 is unhealthy', 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n', 'status 404'],
    ['503 is unhealthy', 'HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n', 'status 503'],
    ['a response that is not HTTP is unhealthy', 'SSH-2.0-OpenSSH_9.9\r\n', 'no HTTP answer'],
  ])('%s', async (_what, answer, found) => {
    const { url } = await answering(answer);
    expect(await check(url)).toBe(found);
  });

  it('sends a GET for its path, with the Host of the upstream and no field of a client', async () => {
    const upstream = await answering('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    await check(upstream.url, { host: 'orders.internal' });
    const [seen] = upstream.connections;
    expect(seen?.received.split('\r\n').filter((line) => line !== '')).toEqual([
      'GET /healthz?deep=1 HTTP/1.1',
      'host: orders.internal',
      'connection: keep-alive',
      'user-agent: sundial-health',
    ]);
  });

  it('uses the status and does not wait for the end of the body', async () => {
    const upstream = await answering('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
    expect(await check(upstream.url, {}, 1_000)).toBeUndefined();
    await expect.poll(() => upstream.connections[0]?.gone, { timeout: 5_000 }).toBe(true);
  });

  it('closes the connection after a long response', async () => {
    const upstream = await answering(
      `HTTP/1.1 200 OK\r\ncontent-length: 9000000\r\n\r\n${'x'.repeat(100_000)}`,
    );
    expect(await check(upstream.url)).toBeUndefined();
    await expect.poll(() => upstream.connections[0]?.gone).toBe(true);
  });

  it('fails at its timeout without a response, and closes the connection', async () => {
    const upstream = await answering('');
    expect(await check(upstream.url, {}, 50)).toBe('no answer in time');
    await expect.poll(() => upstream.connections[0]?.gone).toBe(true);
  });

  it('stops at once when its signal is aborted', async () => {
    const upstream = await answering('');
    const stop = new AbortController();
    const found = check(upstream.url, {}, 60_000, stop);
    await expect.poll(() => upstream.count('/healthz?deep=1')).toBe(1);
    stop.abort();
    expect(await found).toBe('given up');
    await expect.poll(() => upstream.connections[0]?.gone).toBe(true);
  });

  it('fails if nothing listens at the target', async () => {
    const [port] = await freePorts(1);
    expect(await check(`http://127.0.0.1:${port}`)).toBe('ECONNREFUSED');
  });

  it('FWD-19: fails if the certificate is untrusted, and sends no request', async () => {
    const untrusted = await startUntrustedUpstream();
    stack.push(untrusted);
    expect(await check(untrusted.url)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(untrusted.requests).toBe(0);
  });

  it('FWD-19: trusts the CA of the upstream section', async () => {
    const pair = await makeCertificate();
    const server = createTlsServer(pair, (_request, response) => response.end('ok'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stack.push({
      [Symbol.asyncDispose]: () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    });
    const bound = server.address();
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
    const tls = { ca: pair.cert, cert: undefined, key: undefined, name: undefined };
    expect(await check(`https://127.0.0.1:${port}`, { tls })).toBeUndefined();
  });

  it('takes no slot of the target, so a target without a free slot is healthy', async () => {
    const upstream = await answering('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    const connections = { max: 1, queue: 0, waitMs: 1 };
    pools = createPools({ connect: connectTarget, startDeadline });
    const plan = { ...sample, timeouts: TIMEOUTS, targets: [{ origin: upstream.url }], connections };
    const target = { origin: upstream.url };
    const { limit } = pools.route(plan, target);
    const nothing = (): void => undefined;
    const choice = { target, answered: nothing, settle: nothing };
    new Slot(limit, choice, false, { onSlot: nothing, onBusy: nothing }).enter(connections);
    expect(await check(upstream.url, { connections })).toBeUndefined();
    expect(limit.size()).toEqual({ running: 1, waiting: 0 });
  });
});
