// Upstreams that fail before they respond: 502 and 504 with the specification's bodies, without the cause.

import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrokenUpstream } from '../support/broken-upstream.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { expectNothingOfTheCause } from '../support/inside.ts';
import { freePorts } from '../support/ports.ts';
import type { RawUpstream } from '../support/raw-upstream.ts';
import { startUnresponsivePort } from '../support/unresponsive-port.ts';
import { startUntrustedUpstream, type UntrustedUpstream } from '../support/untrusted-upstream.ts';

const stack = new AsyncDisposableStack();
const clients = new Map<string, Client>();
let gateway: RunningGateway;
let broken: RawUpstream;
let untrusted: UntrustedUpstream;

beforeAll(async () => {
  broken = stack.use(await startBrokenUpstream());
  const deaf = stack.use(await startUnresponsivePort());
  untrusted = stack.use(await startUntrustedUpstream());
  const [closed] = await freePorts(1);
  gateway = stack.use(
    await runGateway({
      policies: 'upstream-faults',
      environment: {
        BROKEN: broken.url,
        DEAF: deaf.url,
        REFUSING: `http://127.0.0.1:${closed}`,
        UNTRUSTED: untrusted.url,
      },
    }),
  );
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
});
afterAll(() => stack.disposeAsync());

type Row = readonly [fault: string, path: string, error: string, message: string];

const badGateways: readonly Row[] = [
  ['upstream_refused', '/api/refusing', 'connection_refused', 'could not be reached'],
  ['upstream_dns', '/api/nameless', 'dns_error', 'could not be reached'],
  [
    'upstream_tls',
    '/api/untrusted',
    'tls_certificate_error',
    'could not be reached over a trusted connection',
  ],
  [
    'upstream_reset',
    '/api/broken/reset',
    'connection_terminated',
    'closed the connection before it answered',
  ],
  [
    'upstream_reset',
    '/api/broken/close',
    'connection_terminated',
    'closed the connection before it answered',
  ],
  ...['garbage', 'two-lengths', 'both-framings', 'folded-line', 'nul-in-a-line', 'unknown-coding'].map(
    (name): Row => [
      'upstream_invalid',
      `/api/broken/${name}`,
      'http_protocol_error',
      'returned an invalid response',
    ],
  ),
  ...['huge-head', 'countless-fields'].map(
    (name): Row => [
      'upstream_invalid',
      `/api/broken/${name}`,
      'http_response_header_section_size',
      'returned an invalid response',
    ],
  ),
];

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s an upstream fails before it responds', (protocol) => {
  const ask: Client['ask'] = (asked) =>
    clients.get(protocol)?.ask(asked) ?? Promise.reject(new Error(protocol));

  it.concurrent.each(badGateways)(
    'FWD-18: %s at %s gets 502 with service, and %s',
    async (fault, path, error, message) => {
      const answer = await ask({ path });
      const service = path.split('/')[2] ?? '';
      expect(answer.status).toBe(502);
      expect(answer.json).toEqual({
        error: 'Bad Gateway',
        message: `The ${service} service ${message}.`,
        service,
      });
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'proxy-status': `sundial; error=${error}; next-hop=${service}`,
      });
      expectNothingOfTheCause(answer);
      const line = await gateway.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ fault, status: 502, aborted: false });
    },
  );

  it.concurrent.each([
    ['upstream_connect_timeout', '/api/deaf', 'connection_timeout', '0.25s'],
    ['upstream_headers_timeout', '/api/broken/hang', 'connection_read_timeout', '0.3s'],
    ['upstream_headers_timeout', '/api/broken/drip-head', 'connection_read_timeout', '0.3s'],
  ])('FWD-17: %s at %s gets 504 with timeout, and %s', async (fault, path, error, timeout) => {
    const answer = await ask({ path });
    const service = path.split('/')[2] ?? '';
    expect(answer.status).toBe(504);
    expect(answer.json).toEqual({
      error: 'Gateway Timeout',
      message: `The ${service} service did not answer in time.`,
      timeout,
    });
    expect(answer.headers['proxy-status']).toBe(`sundial; error=${error}; next-hop=${service}`);
    expectNothingOfTheCause(answer);
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ fault, status: 504 });
  });

  it.concurrent('upstream_total_timeout: an endless request body gets 504 after the timeout', async () => {
    const endless = new Readable({ read: () => undefined });
    endless.push('some of it');
    const answer = await ask({ path: '/api/broken/hang?upload', method: 'POST', body: endless });
    expect(answer).toMatchObject({
      status: 504,
      json: { error: 'Gateway Timeout', timeout: '3s' },
      headers: { 'proxy-status': 'sundial; error=http_response_timeout; next-hop=broken' },
    });
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ fault: 'upstream_total_timeout', status: 504 });
  });

  it.concurrent('HEAD gets the headers of a fault and no body', async () => {
    const answer = await ask({ path: '/api/refusing', method: 'HEAD' });
    expect(answer).toMatchObject({ status: 502, headers: { 'proxy-status': /connection_refused/ } });
    expect(answer.body.length).toBe(0);
  });
});

describe('an upstream that fails', () => {
  it.each([
    ['refusing', 'refused'],
    ['nameless', 'dns'],
    ['untrusted', 'tls'],
    ['deaf', 'connect_timeout'],
    ['broken', 'reset'],
    ['broken', 'invalid'],
    ['broken', 'headers_timeout'],
    ['broken', 'total_timeout'],
  ])('at %s is counted as %s, and not as answered', async (service, outcome) => {
    const of = (result: string) =>
      gateway.metric(
        `sundial_upstream_requests_total{api="${service}",version="none",upstream="${service}",outcome="${result}"}`,
      );
    expect(await of(outcome)).toBeGreaterThan(0);
    expect(await of('answered')).toBe(0);
    expect(await of('client_left')).toBe(0);
  });

  it('FWD-19: gets no request if its certificate is not trusted', () => {
    expect(untrusted.requests).toBe(0);
  });

  it('gets an interrupted POST only once', async () => {
    const answer = await clients
      .get('HTTP/1.1')
      ?.ask({ path: '/api/broken/reset?post', method: 'POST', body: '{}' });
    expect(answer?.status).toBe(502);
    expect(broken.count('/raw/reset?post')).toBe(1);
  });

  it('gets a GET on a stale connection again, once, but not a POST', async () => {
    const client = clients.get('HTTP/2');
    const first = await client?.ask({ path: '/api/broken/stale?first' });
    const get = await client?.ask({ path: '/api/broken/stale?get' });
    expect([first?.status, get?.status]).toEqual([200, 200]);
    expect(broken.count('/raw/stale?get')).toBe(2);
    await client?.ask({ path: '/api/broken/stale?fresh' });
    const post = await client?.ask({ path: '/api/broken/stale?post', method: 'POST', body: '{}' });
    expect(broken.count('/raw/stale?post')).toBe(1);
    expect(post?.status === 502 || post?.status === 200).toBe(true);
  });

  it('that closes after each response fails none of sixty requests per method', async () => {
    for (const method of ['GET', 'POST']) {
      for (let call = 0; call < 60; call += 1) {
        const body = method === 'POST' ? { body: '{}' } : {};
        const answer = await clients
          .get('HTTP/1.1')
          ?.ask({ path: '/api/broken/answer-and-close', method, ...body });
        expect([method, call, answer?.status]).toEqual([method, call, 200]);
      }
    }
  });

  it('RL-14: a retried or failed request counts once against its limit', async () => {
    const client = clients.get('HTTP/2');
    const left = async (path: string): Promise<number> =>
      Number((await client?.ask({ path }))?.headers['x-ratelimit-remaining']);
    const before = await left('/api/broken/stale?counted');
    expect(await left('/api/broken/stale?twice')).toBe(before - 1);
    expect(broken.count('/raw/stale?twice')).toBe(2);
    expect(await left('/api/broken/overloaded')).toBe(before - 2);
    expect(await left('/api/broken/reset')).toBe(before - 3);
  });

  it('FWD-16: gets one call for its own 503, which is forwarded with Retry-After and body', async () => {
    const calls = broken.count('/raw/overloaded');
    const answer = await clients.get('HTTP/1.1')?.ask({ path: '/api/broken/overloaded' });
    expect(answer).toMatchObject({ status: 503, text: 'busy', headers: { 'retry-after': '0' } });
    expect(answer?.headers).not.toHaveProperty('proxy-status');
    expect(broken.count('/raw/overloaded')).toBe(calls + 1);
  });
});
