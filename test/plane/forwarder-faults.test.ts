// All ways in which an upstream fails, and a client that disconnects, over real sockets.
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import { generate } from 'selfsigned';
import { describe, expect, it } from 'vitest';
import { type Answering, forEachTest } from './gateway-pair.ts';
import { type GatewayOptions, PLANE, startGateway } from './gateway-under-test.ts';
import { get, OK, type RawRequest, sendRaw, until } from './raw-sockets.ts';

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
  return {
    text,
    status: statuses[0],
    hits: upstream.requests.length,
    code: gateway.facts[0]?.completion.fault?.code,
  };
};

const timeouts = { connect: 1_000, headers: 1_000, idle: 1_000, total: 5_000 };

describe('FWD-18: an upstream failure has a stable code and does not reveal its cause', () => {
  const failing: [string, number, string, (request: RawRequest) => string | undefined][] = [
    ['a reset before a response', 502, 'upstream_reset', hangUp('reset')],
    ['a close before a response', 502, 'upstream_reset', hangUp('end')],
    ['a response that is not HTTP', 502, 'upstream_invalid', () => 'SSH-2.0-OpenSSH\r\n\r\n'],
    [
      'SMG-22: two Content-Length fields',
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
      'an unexpected 101',
      502,
      // undici closes the connection.
      PLANE === 'fast' ? 'upstream_invalid' : 'upstream_reset',
      () => 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
    ],
    ['a status above 599', 502, 'upstream_invalid', () => 'HTTP/1.1 777 Lucky\r\nContent-Length: 0\r\n\r\n'],
  ];
  it.each(failing)('%s', async (_name, status, code, answer) => {
    const seen = await fault(answer);
    expect(seen).toMatchObject({ status, code });
    expect(seen.text).not.toMatch(/ECONN|UND_ERR|HPE_|127\.0\.0\.1|\bat .*js:/);
  });

  it('a refused connection', async () => {
    const gateway = await startGateway({ upstream: 'http://127.0.0.1:1' });
    defer(gateway.stop);
    const { statuses } = await sendRaw(gateway.port, get());
    expect(statuses).toEqual([502]);
    expect(gateway.facts[0]?.completion.fault?.code).toBe('upstream_refused');
  });

  it('a connection that is refused while the client sends a body: the client gets 502', async () => {
    const gateway = await startGateway({ upstream: 'http://127.0.0.1:1' });
    defer(gateway.stop);
    const { statuses } = await sendRaw(
      gateway.port,
      get('/echo', ['Content-Length: 500000'], 'POST', 'x'.repeat(100_000)),
    );
    expect(statuses).toEqual([502]);
  });

  it('a host name that does not resolve', async () => {
    const gateway = await startGateway({ upstream: 'http://nowhere.invalid' });
    defer(gateway.stop);
    await sendRaw(gateway.port, get());
    expect(gateway.facts[0]?.completion.fault?.code).toBe('upstream_dns');
  });

  it('FWD-19: an untrusted certificate', async () => {
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
    expect(gateway.facts[0]?.completion.fault?.code).toBe('upstream_tls');
  });

  it('no response headers in time', async () => {
    const seen = await fault(() => undefined, { plan: { timeouts: { ...timeouts, headers: 100 } } });
    expect(seen).toMatchObject({ status: 504, code: 'upstream_headers_timeout', hits: 1 });
  });

  it('the total timeout before the response headers', async () => {
    const seen = await fault(() => undefined, { plan: { timeouts: { ...timeouts, total: 100 } } });
    expect(seen).toMatchObject({ status: 504, code: 'upstream_total_timeout', hits: 1 });
  });

  it('a response body that stalls', async () => {
    const { gateway } = await pair(() => 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf', {
      plan: { timeouts: { ...timeouts, idle: 100 } },
    });
    const { closed, text } = await sendRaw(gateway.port, get());
    expect(closed).toBe(true);
    expect(text.endsWith('half')).toBe(true);
  });
});

describe('FWD-16: the stale keep-alive race', () => {
  // Answers the first request on a connection and closes it at the second.
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

  it('a GET is retried once on a new connection', async () => {
    const { upstream, gateway } = await pair(stale());
    expect((await sendRaw(gateway.port, get())).statuses).toEqual([200]);
    expect((await sendRaw(gateway.port, get('/echo/2'))).statuses).toEqual([200]);
    expect(upstream.requests.map(({ head }) => head.split(' ')[1])).toEqual(['/echo', '/echo/2', '/echo/2']);
  });

  it('a POST is not retried', async () => {
    const { upstream, gateway } = await pair(stale());
    await sendRaw(gateway.port, get());
    expect((await sendRaw(gateway.port, get('/echo/2', ['Content-Length: 0'], 'POST'))).statuses).toEqual([
      502,
    ]);
    expect(upstream.requests).toHaveLength(2);
  });

  it('a GET is not retried after a part of its response has arrived', async () => {
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

describe('FWD-17: a client that disconnects', () => {
  it('cancels the upstream request before the response headers', async () => {
    const { upstream, gateway } = await pair(() => undefined);
    const client = connect(gateway.port, '127.0.0.1', () => void client.write(get()));
    await until(() => upstream.requests.length === 1);
    client.destroy();
    await until(() => upstream.requests[0]?.ended === true);
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 499, aborted: true }]);
    expect(gateway.facts[0]?.completion.fault?.code).toBeUndefined();
  });

  it('cancels the upstream request in the middle of the response body', async () => {
    const { upstream, gateway } = await pair(() => 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
    const client = connect(gateway.port, '127.0.0.1', () => void client.write(get()));
    await new Promise((resolve) => client.once('data', resolve));
    client.destroy();
    await until(() => upstream.requests[0]?.ended === true);
  });

  it('never completes its request body at the upstream', async () => {
    const { upstream, gateway } = await pair(() => undefined);
    const head = get('/echo', ['Transfer-Encoding: chunked'], 'POST', '5\r\nhello\r\n');
    const client = connect(gateway.port, '127.0.0.1', () => void client.write(head));
    await until(() => upstream.requests[0]?.body.includes('hello') === true);
    client.destroy();
    await until(() => upstream.requests[0]?.ended === true);
    expect(upstream.requests[0]?.body).not.toContain('0\r\n\r\n');
  });
});
