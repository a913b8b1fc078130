// Calls over real sockets: bodies, interim responses, header rules, and delayed responses.
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createNotice } from '../../gateway/policy/body-notice/notice.ts';
import { openWebSocket } from '../support/websocket-client.ts';
import { startWebSocketUpstream } from '../support/websocket-upstream.ts';
import { forEachTest, whenComplete } from './gateway-pair.ts';
import { get, OK, sendRaw, until } from './raw-sockets.ts';

const { defer, gatewayTo, upstreamThat } = forEachTest();
const CLOSE = ['Connection: close'];
const silent = (): undefined => undefined;

describe('a body beyond its bound', () => {
  const chunk = (size: number): string => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;
  const CHUNKED = ['Transfer-Encoding: chunked'];

  it('SMG-12: chunk extensions that are too large in total get 413 and close the connection', async () => {
    const upstream = await upstreamThat(silent, whenComplete);
    // Twenty thousand chunks take long on a busy machine.
    const timeouts = { connect: 1_000, headers: 20_000, idle: 20_000, total: 20_000 };
    const gateway = await gatewayTo([upstream.origin], { timeouts });
    const padded = (count: number, octets: number): string =>
      `1;${'e'.repeat(octets)}\r\nx\r\n`.repeat(count);
    const { statuses, closed } = await sendRaw(
      gateway.port,
      get('/echo', CHUNKED, 'POST', `${padded(40, 8_000)}0\r\n\r\n${get('/echo/canary')}`),
    );
    expect([statuses, closed, gateway.facts[0]?.completion.refusal]).toEqual([
      [413],
      true,
      'request_malformed',
    ]);
    expect(gateway.views).toHaveLength(1);
    expect(upstream.requests.every(({ complete }) => !complete)).toBe(true);
    // Honest clients send an octet per chunk, or a signature now and then.
    const honest = `${padded(20_000, 3)}${padded(100, 100)}0\r\n\r\n`;
    const answer = await sendRaw(gateway.port, get('/echo', [...CHUNKED, ...CLOSE], 'POST', honest));
    expect(answer.statuses).toEqual([200]);
  });

  it('SMG-12: chunk extensions of a pipelined request that are too large in total get 413', async () => {
    const upstream = await upstreamThat(
      (request) => (request.head.startsWith('GET') ? OK : undefined),
      whenComplete,
    );
    const gateway = await gatewayTo([upstream.origin]);
    const padded = `1;${'e'.repeat(8_000)}\r\nx\r\n`.repeat(40);
    const bytes = get('/echo') + get('/echo', CHUNKED, 'POST', `${padded}0\r\n\r\n`) + get('/echo/canary');
    // A message with refused framing closes its connection, although its end is known.
    expect(await sendRaw(gateway.port, bytes, 3)).toMatchObject({ statuses: [200, 413], closed: true });
    expect(upstream.requests).toHaveLength(1);
  });

  it('SMG-12: the requests after a body do not count as its framing', async () => {
    const upstream = await upstreamThat(
      (request) => (request.head.startsWith('GET') ? OK : undefined),
      whenComplete,
    );
    const gateway = await gatewayTo([upstream.origin]);
    const followers = get('/echo', ['Content-Length: 60000'], 'PUT', 'x'.repeat(60_000)).repeat(4);
    const bytes = get('/echo') + get('/echo', CHUNKED, 'PUT', `${chunk(1)}0\r\n\r\n`) + followers;
    const { statuses } = await sendRaw(gateway.port, bytes, 6);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200]);
  });

  it('SMG-24: a chunked body that grows too large gets 413 and never completes upstream', async () => {
    const upstream = await upstreamThat(silent, whenComplete);
    const gateway = await gatewayTo([upstream.origin], {}, { order: { maxBody: 1_000 } });
    const answer = await sendRaw(
      gateway.port,
      get('/echo', CHUNKED, 'POST', `${chunk(900)}${chunk(200)}0\r\n\r\n`),
    );
    expect(answer.statuses).toEqual([413]);
    expect(gateway.facts[0]?.completion.refusal).toBe('body_too_large');
    await until(() => upstream.sockets.size === 0);
    expect(upstream.requests.every(({ complete }) => !complete)).toBe(true);
  });

  it('a body of exactly the bound passes', async () => {
    const upstream = await upstreamThat(silent, whenComplete);
    const gateway = await gatewayTo([upstream.origin], {}, { order: { maxBody: 1_000 } });
    const body = `${chunk(900)}${chunk(100)}0\r\n\r\n`;
    expect((await sendRaw(gateway.port, get('/echo', CHUNKED, 'POST', body))).statuses).toEqual([200]);
  });

  it('FWD-17: a body that grows too large after the response head aborts the response', async () => {
    const upstream = await upstreamThat(() => 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
    const gateway = await gatewayTo([upstream.origin], {}, { order: { maxBody: 1_000 } });
    const socket = connect(gateway.port, '127.0.0.1');
    defer(async () => void socket.destroy());
    socket.on('error', () => undefined);
    let received = '';
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
    });
    socket.write(get('/echo', CHUNKED, 'POST', chunk(900)));
    await until(() => received.endsWith('half'));
    socket.write(chunk(200));
    await new Promise<void>((resolve) => socket.once('close', () => resolve()));
    expect(gateway.facts[0]?.completion.refusal).toBe('body_too_large');
    expect(gateway.outcomes).toMatchObject([{ status: 200, aborted: true }]);
  });
});

describe('FWD-13: interim responses', () => {
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
  const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
  it.each([
    ['100', CONTINUE],
    ['100 with fields', 'HTTP/1.1 100 Continue\r\nX-A: 1\r\nX-B: 2\r\n\r\n'],
    ['100 without a reason', 'HTTP/1.1 100\r\n\r\n'],
    ['100 twice', CONTINUE + CONTINUE],
    ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['100 and two 103', CONTINUE + HINTS + HINTS],
  ])('%s is skipped, and the connection is used again', async (_, interim) => {
    const upstream = await upstreamThat(() => interim + OK);
    const gateway = await gatewayTo([upstream.origin]);
    for (const _ of [1, 2]) {
      const { statuses, text } = await sendRaw(gateway.port, get());
      expect([statuses, text.endsWith('ok')]).toEqual([[200], true]);
    }
    expect(upstream.sockets.size).toBe(1);
  });

  it('a hundred of them are skipped, and one more is upstream_invalid', async () => {
    const upstream = await upstreamThat((_, count) => HINTS.repeat(count === 1 ? 100 : 101) + OK);
    const gateway = await gatewayTo([upstream.origin]);
    for (const status of [200, 502]) expect((await sendRaw(gateway.port, get())).statuses).toEqual([status]);
    expect(gateway.facts.map(({ completion }) => completion.fault?.code)).toEqual([
      undefined,
      'upstream_invalid',
    ]);
    await until(() => upstream.sockets.size === 0);
  });

  it('a 100 that arrives byte by byte is skipped', async () => {
    const upstream = await upstreamThat(silent);
    const gateway = await gatewayTo([upstream.origin]);
    const answering = sendRaw(gateway.port, get());
    await until(() => upstream.requests.length === 1);
    const socket = upstream.requests[0]?.socket;
    socket?.setNoDelay(true);
    for (const byte of CONTINUE + OK) {
      socket?.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await answering).statuses).toEqual([200]);
  });

  it('a body with the text of a 100 is forwarded as a body', async () => {
    const body = `${CONTINUE}HTTP/1.1 100 Continue`;
    const upstream = await upstreamThat(
      () => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const gateway = await gatewayTo([upstream.origin]);
    const { text } = await sendRaw(gateway.port, get('/echo', CLOSE));
    expect(text.endsWith(`\r\n\r\n${body}`)).toBe(true);
  });

  it('a 100 without a final response gives 502', async () => {
    const upstream = await upstreamThat(({ socket }) => void socket.end(CONTINUE));
    const gateway = await gatewayTo([upstream.origin]);
    expect((await sendRaw(gateway.port, get('/echo', CLOSE))).statuses).toEqual([502]);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('the header rules of a policy', () => {
  const headerRules = {
    request: { set: { 'x-tenant': 'acme', authorization: 'Basic eDp5' }, remove: ['x-debug'] },
    response: { set: { 'x-frame-options': 'DENY' }, remove: ['server', 'x-powered-by'] },
  };
  const withheld = ['x-tenant', 'authorization', 'x-debug'];

  it('set and remove fields of requests and responses', async () => {
    const upstream = await upstreamThat(
      () =>
        'HTTP/1.1 200 OK\r\nServer: x/1\r\nX-Powered-By: y\r\nX-Frame-Options: ALLOWALL\r\nContent-Length: 0\r\n\r\n',
    );
    const gateway = await gatewayTo([upstream.origin], {}, { withheld, order: { headerRules } });
    const lines = ['X-Tenant: evil', 'X-Debug: 1', 'Authorization: Bearer t', 'X-Kept: 1'];
    const { text } = await sendRaw(gateway.port, get('/echo', lines));
    const head = upstream.requests[0]?.head ?? '';
    expect(head.match(/\r\nx-tenant: .*/gi)).toEqual(['\r\nx-tenant: acme']);
    expect(head.match(/\r\nauthorization: .*/gi)).toEqual(['\r\nauthorization: Basic eDp5']);
    expect(head).toContain('\r\nx-kept: 1');
    expect(head).not.toMatch(/x-debug/i);
    expect(text).toMatch(/\r\nx-frame-options: DENY\r\n/);
    expect(text).not.toMatch(/server:|x-powered-by|ALLOWALL/i);
  });

  it('apply to WebSocket handshakes', async () => {
    await using upstream = await startWebSocketUpstream();
    const gateway = await gatewayTo(
      [upstream.url],
      { host: 'chat.internal' },
      { withheld, order: { headerRules } },
    );
    using client = await openWebSocket(gateway.port, '/echo', { tls: false, host: 'api.example.com' });
    expect(client.headers['x-frame-options']).toBe('DENY');
    expect(upstream.seen[0]?.headers).toMatchObject({ 'x-tenant': 'acme', host: 'chat.internal' });
  });

  it('the upstream gets the Host of its section', async () => {
    const upstream = await upstreamThat();
    const gateway = await gatewayTo([upstream.origin], { host: 'orders.internal:81' });
    await sendRaw(gateway.port, get());
    expect(upstream.requests[0]?.head.match(/\r\nhost: .*/gi)).toEqual(['\r\nhost: orders.internal:81']);
  });
});

describe('a response that waits for its deprecation notice', () => {
  it('FWD-18: is upstream_invalid if its head cannot be written, like any other response', async () => {
    const fields = 'Content-Type: application/json\r\nContent-Length: 2';
    const upstream = await upstreamThat(() => `HTTP/1.1 200 OK\r\n${fields}\r\n\r\n{}`);
    // No policy has such a value. It represents any value that Node refuses.
    const response = { set: { 'x-bad': 'a\nb' }, remove: [] };
    const headerRules = { request: { set: {}, remove: [] }, response };
    const notice = createNotice({
      sunset: Date.UTC(2026, 5, 1),
      replacement: undefined,
      guide: undefined,
      reason: undefined,
    });
    for (const order of [{ headerRules }, { headerRules, notice }]) {
      const gateway = await gatewayTo([upstream.origin], {}, { order });
      const { statuses } = await sendRaw(gateway.port, get('/echo', CLOSE));
      expect([statuses, gateway.facts[0]?.completion.fault?.code]).toEqual([[502], 'upstream_invalid']);
    }
  });
});
