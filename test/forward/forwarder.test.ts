// Forwarding over real sockets: every default of reply-from that a gateway must not have, and every way an upstream fails.
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import { generate } from 'selfsigned';
import { describe, expect, it } from 'vitest';
import { type Answering, forEachTest, whenComplete } from '../server/gateway-pair.ts';
import { type GatewayOptions, startGateway } from '../server/gateway-under-test.ts';
import { get, OK, type RawRequest, sendRaw, until } from '../server/raw-sockets.ts';

const { defer, pair } = forEachTest();

const hangUp =
  (how: 'reset' | 'end') =>
  ({ socket }: RawRequest): undefined => {
    if (how === 'reset') socket.resetAndDestroy();
    else socket.end();
  };

const fault = async (answer: Answering, options: GatewayOptions = {}) => {
  const { gateway, upstream } = await pair(answer, options);
  const { text, statuses } = await sendRaw(gateway.port, get());
  return { text, status: statuses[0], hits: upstream.requests.length, code: gateway.facts[0]?.fault };
};

const timeouts = { connect: 1_000, headers: 1_000, idle: 1_000, total: 5_000 };

describe('what the upstream receives', () => {
  it('FWD-1, FWD-2: hop-by-hop and nominated fields stay here, ours are added afterwards', async () => {
    const { upstream, gateway } = await pair();
    const lines = [
      'Connection: close, X-Secret, X-Forwarded-For, Via',
      'X-Secret: 1',
      'Keep-Alive: 5',
      'TE: trailers',
      'Trailer: X-T',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA',
      'Proxy-Connection: close',
      'Proxy-Authorization: Basic eDp5',
      'Via: 1.0 fred',
      'X-Kept: 1',
    ];
    const { statuses } = await sendRaw(gateway.port, get('/echo', lines));
    expect(statuses).toEqual([200]);
    const head = upstream.requests[0]?.head ?? '';
    expect(head).toContain('\r\nx-kept: 1');
    expect(head).toContain('\r\nvia: 1.1 sundial');
    expect(head).toContain('\r\nx-forwarded-for: 127.0.0.1');
    expect(head).not.toMatch(/x-secret|keep-alive: 5|\r\nte:|trailer|upgrade|http2-settings|proxy-/i);
  });

  it('FWD-6: Via is appended to', async () => {
    const { upstream, gateway } = await pair();
    await sendRaw(gateway.port, get('/echo', ['Via: 1.0 fred']));
    expect(upstream.requests[0]?.head).toContain('\r\nvia: 1.0 fred, 1.1 sundial');
  });

  it('XFF-1, XFF-4: forwarding and identity fields of a stranger are replaced or dropped', async () => {
    const { upstream, gateway } = await pair();
    const lines = [
      'X-Forwarded-For: 6.6.6.6',
      'X-Forwarded-Proto: gopher',
      'X-Forwarded-Host: evil',
      'X-Forwarded-Prefix: /evil',
      'Forwarded: for=6.6.6.6',
      'X-Real-IP: 6.6.6.6',
      'X-User-Id: root',
      'X-Client-Cert: x',
      'Client-Cert: x',
      'X-Scopes: all',
    ];
    await sendRaw(gateway.port, get('/echo', lines));
    const head = upstream.requests[0]?.head ?? '';
    expect(head).not.toMatch(/6\.6\.6\.6|evil|gopher|root|cert|scopes/);
    expect(head).toContain('\r\nx-forwarded-proto: http');
    expect(head).toContain('\r\nx-forwarded-host: api.example.com');
  });

  it('VER-9: one version only, under the canonical name', async () => {
    const { upstream, gateway } = await pair(undefined, { removeHeaders: ['x-version'] });
    await sendRaw(gateway.port, get('/echo', ['API-Version: 9', 'X-Version: 8']));
    const head = upstream.requests[0]?.head ?? '';
    expect(head.match(/version: /gi)).toHaveLength(1);
    expect(head).toContain('\r\nAPI-Version: v1');
  });

  it.each([
    ['keep', true],
    ['strip', false],
  ] as const)('authorization: %s', async (authorization, arrives) => {
    const { upstream, gateway } = await pair(undefined, { plan: { authorization } });
    await sendRaw(gateway.port, get('/echo', ['Authorization: Bearer abc']));
    expect(/authorization: Bearer abc/.test(upstream.requests[0]?.head ?? '')).toBe(arrives);
  });

  it('the Host is the authority of the target', async () => {
    const { upstream, gateway } = await pair();
    await sendRaw(gateway.port, get());
    expect(upstream.requests[0]?.head).toContain(`\r\nhost: ${new URL(upstream.origin).host}`);
  });

  it.each(['POST', 'GET', 'DELETE'])(
    'FWD-20: the bytes of a %s body arrive as they were sent',
    async (method) => {
      const body = '{"a":12345678901234567890,"a":1.0}';
      const { upstream, gateway } = await pair(() => undefined, {}, whenComplete);
      const lines = ['Content-Type: application/json; x=y', `Content-Length: ${body.length}`];
      const { statuses } = await sendRaw(gateway.port, get('/echo', lines, method, body));
      expect(statuses).toEqual([200]);
      expect(upstream.requests[0]?.body).toBe(body);
      expect(upstream.requests[0]?.head).toContain('content-type: application/json; x=y');
      expect(upstream.requests[0]?.head).toContain(`content-length: ${body.length}`);
    },
  );

  it('SMG-21: a chunked DELETE that looks like two requests is one, with one fresh framing', async () => {
    const { upstream, gateway } = await pair(() => undefined, {}, whenComplete);
    const inner = get('/admin');
    const body = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
    const { statuses } = await sendRaw(
      gateway.port,
      get('/echo', ['Transfer-Encoding: chunked'], 'DELETE', body),
    );
    expect(statuses).toEqual([200]);
    expect(upstream.requests).toHaveLength(1);
    expect(upstream.requests[0]?.head.match(/\r\n(?:transfer-encoding|content-length): /g)).toHaveLength(1);
    expect(upstream.requests[0]?.body).toContain(inner);
  });
});

describe('what the client receives', () => {
  it('FWD-3, FWD-5: hop-by-hop fields end here, repeated fields stay apart, decoration is added', async () => {
    const { gateway } = await pair(
      () =>
        'HTTP/1.1 299 Odd\r\nConnection: X-Secret, keep-alive\r\nX-Secret: 1\r\nKeep-Alive: timeout=9\r\n' +
        'Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 2\r\n\r\nok',
    );
    const { text, statuses } = await sendRaw(gateway.port, get());
    expect(statuses).toEqual([299]);
    expect(text).not.toMatch(/x-secret|timeout=9/i);
    expect(text.match(/set-cookie: /gi)).toHaveLength(2);
    expect(text).toContain('deprecation: @1');
    expect(gateway.facts[0]?.upstreamMs).toBeGreaterThan(0);
  });

  it('FWD-16: a GET answered 503 reaches the upstream once', async () => {
    const { upstream, gateway } = await pair(
      () => 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n',
    );
    const { statuses } = await sendRaw(gateway.port, get());
    expect(statuses).toEqual([503]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('SMG-23: 204 and HEAD carry no body', async () => {
    const { gateway } = await pair(({ head }) =>
      head.startsWith('HEAD')
        ? 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'
        : 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n',
    );
    const none = await sendRaw(gateway.port, get('/echo', ['Connection: close']));
    expect(none.text).not.toMatch(/content-length/i);
    const head = await sendRaw(gateway.port, get('/echo', ['Connection: close'], 'HEAD'));
    expect(head.text).toMatch(/content-length: 5/i);
    expect(head.text.endsWith('\r\n\r\n')).toBe(true);
  });

  it('1xx answers other than the final one are not passed on', async () => {
    const { gateway } = await pair(() => `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}`);
    const { statuses } = await sendRaw(gateway.port, get());
    expect(statuses).toEqual([200]);
  });

  it('FWD-17: an upstream that dies mid-body is seen as a cut, never as an end', async () => {
    for (const framing of ['Content-Length: 10', 'Transfer-Encoding: chunked']) {
      const { gateway } = await pair(({ socket }) => {
        // Ended and not reset: what was written arrives before the end does.
        socket.end(
          `HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${framing.startsWith('C') ? 'half' : '4\r\nhalf\r\n'}`,
        );
        return undefined;
      });
      const { text, closed } = await sendRaw(gateway.port, get());
      expect(text).toContain('half');
      expect(text).not.toContain('0\r\n\r\n');
      expect(closed).toBe(true);
      await until(() => gateway.outcomes.length === 1);
      expect(gateway.outcomes).toMatchObject([{ status: 200, aborted: true }]);
    }
  });
});

describe('FWD-18: failures have stable codes and tell nothing of their cause', () => {
  const failing: [string, number, string, (request: RawRequest) => string | undefined][] = [
    ['reset before an answer', 502, 'upstream_reset', hangUp('reset')],
    ['closed before an answer', 502, 'upstream_reset', hangUp('end')],
    ['not HTTP', 502, 'upstream_invalid', () => 'SSH-2.0-OpenSSH\r\n\r\n'],
    [
      'SMG-22: two lengths',
      502,
      'upstream_invalid',
      () => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!',
    ],
    [
      'SMG-22: an unknown transfer coding',
      502,
      'upstream_invalid',
      () => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nConnection: close\r\n\r\nxx',
    ],
    [
      'SMG-10: a folded line',
      502,
      'upstream_invalid',
      () => 'HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\nContent-Length: 0\r\n\r\n',
    ],
    [
      'an unasked 101',
      502,
      'upstream_reset',
      () => 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
    ],
    ['a status beyond 599', 502, 'upstream_invalid', () => 'HTTP/1.1 777 Lucky\r\nContent-Length: 0\r\n\r\n'],
  ];
  it.each(failing)('%s', async (_name, status, code, answer) => {
    const seen = await fault(answer);
    expect(seen).toMatchObject({ status, code });
    expect(seen.text).not.toMatch(/ECONN|UND_ERR|HPE_|127\.0\.0\.1|\bat .*js:/);
  });

  it('refused', async () => {
    const gateway = await startGateway({ upstream: 'http://127.0.0.1:1' });
    defer(gateway.stop);
    const { statuses } = await sendRaw(gateway.port, get());
    expect(statuses).toEqual([502]);
    expect(gateway.facts[0]?.fault).toBe('upstream_refused');
  });

  it('refused while a body was being sent: the client still gets its answer', async () => {
    const gateway = await startGateway({ upstream: 'http://127.0.0.1:1' });
    defer(gateway.stop);
    const { statuses } = await sendRaw(
      gateway.port,
      get('/echo', ['Content-Length: 500000'], 'POST', 'x'.repeat(100_000)),
    );
    expect(statuses).toEqual([502]);
  });

  it('no such name', async () => {
    const gateway = await startGateway({ upstream: 'http://nowhere.invalid' });
    defer(gateway.stop);
    await sendRaw(gateway.port, get());
    expect(gateway.facts[0]?.fault).toBe('upstream_dns');
  });

  it('FWD-19: a certificate nobody vouches for', async () => {
    const made = await generate([{ name: 'commonName', value: 'localhost' }], {
      keyType: 'ec',
      algorithm: 'sha256',
    });
    const server = createTlsServer(
      { key: made.private, cert: made.cert },
      (_req, res) => void res.end('secret'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const gateway = await startGateway({ upstream: `https://127.0.0.1:${port}` });
    defer(async () => void server.close(), gateway.stop);
    const { statuses, text } = await sendRaw(gateway.port, get());
    expect(statuses).toEqual([502]);
    expect(text).not.toContain('secret');
    expect(gateway.facts[0]?.fault).toBe('upstream_tls');
  });

  it('no headers in time', async () => {
    const seen = await fault(() => undefined, { plan: { timeouts: { ...timeouts, headers: 100 } } });
    expect(seen).toMatchObject({ status: 504, code: 'upstream_headers_timeout', hits: 1 });
  });

  it('the total time is over before the headers', async () => {
    const seen = await fault(() => undefined, { plan: { timeouts: { ...timeouts, total: 100 } } });
    expect(seen).toMatchObject({ status: 504, code: 'upstream_total_timeout', hits: 1 });
  });

  it('the body stalls', async () => {
    const { gateway } = await pair(() => 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf', {
      plan: { timeouts: { ...timeouts, idle: 100 } },
    });
    const { closed, text } = await sendRaw(gateway.port, get());
    expect(closed).toBe(true);
    expect(text.endsWith('half')).toBe(true);
  });
});

describe('FWD-16: the stale keep-alive race', () => {
  // Answers the first request on a connection and drops the connection at the second.
  const stale = () => {
    const served = new WeakSet<object>();
    return ({ socket }: RawRequest): string | undefined => {
      if (served.has(socket)) {
        socket.destroy();
        return undefined;
      }
      served.add(socket);
      return OK;
    };
  };

  it('a GET is repeated once on a fresh connection', async () => {
    const { upstream, gateway } = await pair(stale());
    expect((await sendRaw(gateway.port, get())).statuses).toEqual([200]);
    expect((await sendRaw(gateway.port, get('/echo/2'))).statuses).toEqual([200]);
    expect(upstream.requests.map(({ head }) => head.split(' ')[1])).toEqual(['/echo', '/echo/2', '/echo/2']);
  });

  it('a POST is never repeated', async () => {
    const { upstream, gateway } = await pair(stale());
    await sendRaw(gateway.port, get());
    expect((await sendRaw(gateway.port, get('/echo/2', ['Content-Length: 0'], 'POST'))).statuses).toEqual([
      502,
    ]);
    expect(upstream.requests).toHaveLength(2);
  });

  it('a GET of which an answer had begun, or on a fresh connection, is not repeated', async () => {
    let count = 0;
    const { upstream, gateway } = await pair(({ socket }) => {
      count += 1;
      if (count === 1) return OK;
      socket.end('HTTP/1.1 200 OK\r\nX-Half');
      return undefined;
    });
    await sendRaw(gateway.port, get());
    expect((await sendRaw(gateway.port, get())).statuses).toEqual([502]);
    expect(upstream.requests).toHaveLength(2);
  });
});

describe('FWD-17: a client that leaves', () => {
  it('cancels the upstream before its headers', async () => {
    const { upstream, gateway } = await pair(() => undefined);
    const client = connect(gateway.port, '127.0.0.1', () => void client.write(get()));
    await until(() => upstream.requests.length === 1);
    client.destroy();
    await until(() => upstream.requests[0]?.ended === true);
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 499, aborted: true }]);
    expect(gateway.facts[0]?.fault).toBeUndefined();
  });

  it('cancels the upstream in the middle of a body', async () => {
    const { upstream, gateway } = await pair(() => 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
    const client = connect(gateway.port, '127.0.0.1', () => void client.write(get()));
    await new Promise((resolve) => client.once('data', resolve));
    client.destroy();
    await until(() => upstream.requests[0]?.ended === true);
  });

  it('in the middle of its own body: the upstream never sees it complete', async () => {
    const { upstream, gateway } = await pair(() => undefined);
    const head = get('/echo', ['Transfer-Encoding: chunked'], 'POST', '5\r\nhello\r\n');
    const client = connect(gateway.port, '127.0.0.1', () => void client.write(head));
    await until(() => upstream.requests[0]?.body.includes('hello') === true);
    client.destroy();
    await until(() => upstream.requests[0]?.ended === true);
    expect(upstream.requests[0]?.body).not.toContain('0\r\n\r\n');
  });
});
