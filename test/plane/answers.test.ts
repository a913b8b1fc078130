// Upstream responses that are legal but unusual, or invalid in a way that only shows on the wire.
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type Answering, forEachTest } from './gateway-pair.ts';
import type { GatewayUnderTest } from './gateway-under-test.ts';
import { send, sessionForEachTest } from './http2-sessions.ts';
import { get, OK, sendRaw, until } from './raw-sockets.ts';

const { pair } = forEachTest();
const { open } = sessionForEachTest();
const gatewayBefore = async (answer: Answering): Promise<GatewayUnderTest> => (await pair(answer)).gateway;

const linesOf = (text: string, name: string): readonly string[] =>
  [...text.matchAll(new RegExp(`\\r\\n${name}: (.*)`, 'gi'))].map((match) => match[1] ?? '');

describe('the head of a response', () => {
  it('reaches the client before the upstream sends the body', async () => {
    let finish = (): void => undefined;
    const gateway = await gatewayBefore(({ socket }) => {
      finish = () => void socket.write('2\r\nok\r\n0\r\n\r\n');
      return 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
    });
    const socket = connect(gateway.port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    socket.write(get());
    await until(() => text.includes('\r\n\r\n'));
    expect(text).not.toContain('ok\r\n0');
    finish();
    await until(() => text.endsWith('2\r\nok\r\n0\r\n\r\n'));
    socket.destroy();
  });

  it('FWD-6: has no space after a value, even if the gateway extends it (RFC 9110 §5.5)', async () => {
    const fields = [
      'Via: 1.0 fred \t',
      'X-A: a  ',
      'Set-Cookie: b=1 ',
      'Set-Cookie: c=2',
      'Content-Length: 2 ',
    ];
    const gateway = await gatewayBefore(() => ['HTTP/1.1 200 OK', ...fields, '', 'ok'].join('\r\n'));
    const { text } = await sendRaw(gateway.port, get());
    expect(linesOf(text, 'via')).toEqual(['1.0 fred, 1.1 sundial']);
    expect(linesOf(text, 'x-a')).toEqual(['a']);
    expect(linesOf(text, 'set-cookie')).toEqual(['b=1', 'c=2']);
    expect(linesOf(text, 'content-length')).toEqual(['2']);
  });

  it('FWD-4: has one value of each singleton field, the first', async () => {
    const lines = [
      'Content-Type: a/b',
      'Location: /a',
      'Date: x',
      'ETag: "1"',
      'Set-Cookie: a=1',
      'X-Any: 1',
    ];
    const others = [
      'Content-Type: c/d',
      'Location: /b',
      'Date: y',
      'ETag: "2"',
      'Set-Cookie: b=2',
      'X-Any: 2',
    ];
    const head = ['HTTP/1.1 200 OK', ...lines, ...others, 'Content-Length: 2'].join('\r\n');
    const { text } = await sendRaw((await gatewayBefore(() => `${head}\r\n\r\nok`)).port, get());
    const found = ['content-type', 'location', 'date', 'etag'].map((name) => linesOf(text, name));
    expect(found).toEqual([['a/b'], ['/a'], ['x'], ['"1"']]);
    expect(linesOf(text, 'set-cookie')).toEqual(['a=1', 'b=2']);
    expect(linesOf(text, 'x-any').join()).toMatch(/^1, ?2$/);
  });
});

describe('FWD-9: Alt-Svc (RFC 7838)', () => {
  it.each([
    ['a response', 'HTTP/1.1 200 OK'],
    ['an error response', 'HTTP/1.1 503 Service Unavailable'],
  ])('is removed from %s, because it would lead clients past the gateway', async (_what, line) => {
    const head = `${line}\r\nAlt-Svc: h2="10.0.0.7:4101"; ma=86400\r\nalt-svc: clear\r\nX-Any: 1`;
    const { text } = await sendRaw(
      (await gatewayBefore(() => `${head}\r\nContent-Length: 2\r\n\r\nok`)).port,
      get(),
    );
    expect(linesOf(text, 'x-any')).toEqual(['1']);
    expect(linesOf(text, 'alt-svc')).toEqual([]);
  });
});

describe('FWD-9: a response field that instructs a reverse proxy', () => {
  it.each([
    'X-Accel-Redirect',
    'X-Sendfile',
    'X-Lighttpd-Send-File',
    'X-LiteSpeed-Location',
    'X-Reproxy-URL',
    'X-Reproxy-File',
    'X-Envoy-Immediate-Health-Check-Fail',
  ])('is removed by the gateway: %s', async (name) => {
    const head = `HTTP/1.1 200 OK\r\n${name}: /internal/7\r\nX-Accel-Buffering: no\r\nContent-Length: 2`;
    const { text } = await sendRaw((await gatewayBefore(() => `${head}\r\n\r\nok`)).port, get());
    expect(linesOf(text, name)).toEqual([]);
    expect(linesOf(text, 'x-accel-buffering')).toEqual(['no']);
  });
});

describe('SMG-23: a 205 has no content (RFC 9110 §15.3.6)', () => {
  const framings = [
    ['with a length', 'Content-Length: 5\r\n\r\nwrong'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nwrong\r\n0\r\n\r\n'],
    ['until the connection closes', 'Connection: close\r\n\r\nwrong'],
    ['of no octets', 'Content-Length: 0\r\n\r\n'],
  ] as const;
  const answering =
    (rest: string): Answering =>
    ({ socket }) => {
      const text = `HTTP/1.1 205 Reset Content\r\nX-Own: 1\r\n${rest}`;
      if (!rest.startsWith('Connection')) return text;
      socket.end(text);
      return undefined;
    };

  it.each(framings)('a body %s is dropped over HTTP/1.1', async (_how, rest) => {
    const gateway = await gatewayBefore(answering(rest));
    const { text, statuses } = await sendRaw(gateway.port, get() + get(), 2);
    expect(statuses).toEqual([205, 205]);
    expect(linesOf(text, 'content-length')).toEqual(['0', '0']);
    expect(linesOf(text, 'x-own')).toEqual(['1', '1']);
    expect(text).not.toContain('wrong');
  });

  it.each(framings)('a body %s is dropped over HTTP/2, and the stream ends normally', async (_how, rest) => {
    const { session } = await open(answering(rest));
    expect(await send(session)).toMatchObject({ status: 205, body: '', reset: undefined });
  });
});

describe('FWD-13: a 101 to a request without an upgrade', () => {
  it.each([
    ['without upgrade fields', ''],
    ['with upgrade fields', 'Connection: upgrade\r\nUpgrade: websocket\r\n'],
  ])('%s gives 502, and the next request is served', async (_what, lines) => {
    const gateway = await gatewayBefore((_request, count) =>
      count === 1 ? `HTTP/1.1 101 Switching Protocols\r\n${lines}\r\nraw bytes` : OK,
    );
    const { statuses, text } = await sendRaw(gateway.port, get());
    expect(statuses).toEqual([502]);
    expect(text).not.toContain('raw bytes');
    expect((await sendRaw(gateway.port, get())).statuses).toEqual([200]);
  });
});
