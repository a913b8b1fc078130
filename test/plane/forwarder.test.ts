// Defaults of reply-from that a gateway must not have, over real sockets.
import { describe, expect, it } from 'vitest';
import { forEachTest, whenComplete } from './gateway-pair.ts';
import { get, OK, sendRaw, until } from './raw-sockets.ts';

const { pair } = forEachTest();

describe('the request to the upstream', () => {
  it('FWD-1, FWD-2: hop-by-hop and nominated fields are removed, and the gateway adds its own', async () => {
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

  it('FWD-6: the gateway appends itself to Via', async () => {
    const { upstream, gateway } = await pair();
    await sendRaw(gateway.port, get('/echo', ['Via: 1.0 fred']));
    expect(upstream.requests[0]?.head).toContain('\r\nvia: 1.0 fred, 1.1 sundial');
  });

  it('XFF-1, XFF-4: forwarding and identity fields of untrusted clients are not forwarded', async () => {
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

  it('VER-9: the upstream gets one version, in the canonical field', async () => {
    const { upstream, gateway } = await pair(undefined, { withheld: ['x-version'] });
    await sendRaw(gateway.port, get('/echo', ['API-Version: 9', 'X-Version: 8']));
    const head = upstream.requests[0]?.head ?? '';
    expect(head.match(/version: /gi)).toHaveLength(1);
    expect(head).toContain('\r\nAPI-Version: v1');
  });

  it('VER-9, SMG-25: fields are withheld or replaced in every spelling of their names', async () => {
    const replaceHeaders = { 'content-type': 'text/plain', 'if-range': undefined };
    const options = { withheld: ['x-key', 'authorization'], order: { replaceHeaders } };
    const { upstream, gateway } = await pair(undefined, options);
    const names = ['Authorization', 'X-Key', 'x.key', 'Content-Type', 'content.type', 'If-Range', 'if~range'];
    await sendRaw(gateway.port, get('/echo', ['X-Kept: 1', ...names.map((name) => `${name}: evil`)]));
    const head = upstream.requests[0]?.head ?? '';
    expect(head).toContain('\r\nx-kept: 1\r\ncontent-type: text/plain\r\n');
    expect(head).not.toMatch(/evil|authorization|key|range/);
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
      expect(gateway.facts[0]?.completion.requestBytes).toBe(body.length);
    },
  );

  it('SMG-21: a chunked DELETE whose body looks like a request is forwarded as one request', async () => {
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
    expect(gateway.facts[0]?.completion.requestBytes).toBe(inner.length);
  });
});

describe('the response to the client', () => {
  it('FWD-3, FWD-5: has no hop-by-hop fields, keeps repeated fields separate, and is decorated', async () => {
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
    expect(gateway.facts[0]?.completion.upstreamMs).toBeGreaterThan(0);
  });

  it('FWD-16: a GET with a 503 response reaches the upstream once', async () => {
    const { upstream, gateway } = await pair(
      () => 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n',
    );
    const { statuses } = await sendRaw(gateway.port, get());
    expect(statuses).toEqual([503]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('SMG-23: a 204 response and a response to HEAD have no body', async () => {
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

  it('interim responses (1xx) are not forwarded', async () => {
    const { gateway } = await pair(() => `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}`);
    const { statuses } = await sendRaw(gateway.port, get());
    expect(statuses).toEqual([200]);
  });

  it('FWD-17: a response that the upstream truncates never ends normally for the client', async () => {
    for (const framing of ['Content-Length: 10', 'Transfer-Encoding: chunked']) {
      const { gateway } = await pair(({ socket }) => {
        // Not reset, so that the written octets arrive first.
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
