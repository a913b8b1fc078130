// Upstreams that do not switch to WebSocket, and which parts of their responses reach the client.
import { describe, expect, it } from 'vitest';
import { makeCertificate, startUntrustedUpstream } from '../../support/untrusted-upstream.ts';
import { frame, TEXT } from '../../support/websocket-frames.ts';
import { LARGE, startWebSocketUpstream } from '../../support/websocket-upstream.ts';
import { get, until } from '../raw-sockets.ts';
import { pairsToTheEnd } from './websocket-pair.ts';

const { pair, stack } = pairsToTheEnd();

describe.concurrent('WS-3: an upstream that does not switch', () => {
  it('gets no octet after the handshake, and its response is decorated and forwarded', async () => {
    const { upstream, gateway, open } = await pair();
    const client = await open('/echo/forbidden', { behind: get('/echo/canary') });
    await client.ended();
    expect(client.status).toBe(403);
    expect(client.headers).toMatchObject({ deprecation: '@1', 'x-own': '1', connection: 'close' });
    expect(client.body()).toBe('no');
    expect(upstream.seen).toHaveLength(1);
    expect(upstream.requests).toEqual([]);
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 403, bytes: 2, aborted: false }]);
  });

  it('FWD-3: sends a long response, which arrives completely in the framing of the gateway', async () => {
    const { gateway, open } = await pair();
    const client = await open('/echo/chunked');
    await client.ended();
    expect(client.headers).toMatchObject({ 'transfer-encoding': 'chunked', connection: 'close' });
    expect(client.headers).not.toHaveProperty('x-hop');
    expect(client.body().endsWith('\r\n0\r\n\r\n')).toBe(true);
    expect(gateway.outcomes).toMatchObject([{ status: 200, bytes: LARGE, aborted: false }]);
  });

  it('SMG-23: sends a 205, which is forwarded without content', async () => {
    const { gateway, open } = await pair();
    const client = await open('/echo/emptied');
    await client.ended();
    expect([client.status, client.headers['content-length'], client.body()]).toEqual([205, '0', '']);
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 205, bytes: 0, aborted: false }]);
  });

  it('FWD-17: truncates its response, which is aborted for the client', async () => {
    const { gateway, open } = await pair();
    const client = await open('/echo/short');
    await client.ended();
    expect([client.headers['content-length'], client.body()]).toEqual(['9', 'half']);
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 200, aborted: true }]);
    expect(gateway.facts).toMatchObject([{ completion: { fault: { code: 'upstream_reset' } } }]);
  });

  it('FWD-17: resets a response without a length, which is aborted for the client', async () => {
    const { upstream, gateway, open } = await pair();
    const client = await open('/echo/unsized');
    await until(() => client.body().includes('half'));
    upstream.seen[0]?.socket.resetAndDestroy();
    await client.ended();
    expect(client.body()).not.toMatch(/\r\n0\r\n/);
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 200, aborted: true }]);
    expect(gateway.facts).toMatchObject([{ completion: { fault: { code: 'upstream_reset' } } }]);
  });

  it.each([
    ['upstream_invalid', 'unaccepted'],
    ['upstream_invalid', 'bare'],
    ['upstream_invalid', 'another'],
    ['upstream_invalid', 'unnamed'],
    ['upstream_invalid', 'outdated'],
    ['upstream_invalid', 'garbage'],
    ['upstream_reset', 'reset'],
  ])('%s: sends an invalid response to the handshake: %s', async (fault, how) => {
    const { upstream, gateway, open } = await pair();
    const client = await open(`/echo/${how}`, { behind: frame(TEXT, 'canary', true) });
    await client.ended();
    expect([client.status, JSON.parse(client.body())]).toEqual([502, { error: fault }]);
    expect(client.headers).toMatchObject({ connection: 'close' });
    await until(() => upstream.seen[0]?.ended === true);
    expect(gateway.outcomes).toMatchObject([{ status: 502, aborted: false }]);
  });

  it('upstream_headers_timeout: sends no response in time', async () => {
    const timeouts = { connect: 1_000, headers: 100, idle: 1_000, total: 5_000 };
    const { upstream, open } = await pair({ plan: { timeouts } });
    const client = await open('/echo/silent');
    expect([client.status, JSON.parse(client.body())]).toEqual([504, { error: 'upstream_headers_timeout' }]);
    await until(() => upstream.seen[0]?.ended === true);
  });

  it('upstream_refused: does not listen', async () => {
    const { open } = await pair({ upstream: 'http://127.0.0.1:1' });
    const client = await open('/echo');
    expect([client.status, JSON.parse(client.body())]).toEqual([502, { error: 'upstream_refused' }]);
  });

  it('FWD-19, upstream_tls: has an untrusted certificate and gets no handshake', async () => {
    const untrusted = stack.use(await startUntrustedUpstream());
    const { open } = await pair({ upstream: untrusted.url });
    const client = await open('/echo');
    expect([client.status, JSON.parse(client.body())]).toEqual([502, { error: 'upstream_tls' }]);
    expect(untrusted.requests).toBe(0);
  });

  it('FWD-19: an upstream with a trusted certificate switches over TLS', async () => {
    const certificate = await makeCertificate();
    const upstream = stack.use(await startWebSocketUpstream(certificate));
    const { open } = await pair({ upstream: upstream.url, ca: certificate.cert });
    const client = await open('/echo');
    expect(client.status).toBe(101);
    client.send('hello');
    expect(await client.received(1)).toHaveLength(1);
    expect(upstream.seen).toHaveLength(1);
  });

  it('FWD-7, upstream_loop: gets no handshake that has passed this gateway before', async () => {
    const { upstream, open } = await pair();
    const client = await open('/echo', { lines: [`Via: ${Array(4).fill('1.1 sundial').join(', ')}`] });
    expect([client.status, JSON.parse(client.body())]).toEqual([502, { error: 'upstream_loop' }]);
    expect(upstream.seen).toHaveLength(0);
  });
});
