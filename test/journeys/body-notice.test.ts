// The `_deprecation` member on real sockets: what clients read, what the upstream gets, what stays unchanged.
import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Client, Fields } from '../support/http-client.ts';
import {
  BODY,
  DAY,
  edited,
  json,
  type NoticedOrders,
  PROTOCOLS,
  type Reply,
  reply,
  sha256,
  startNoticedOrders,
  suffixOf,
  TAG,
} from './body-notice/noticed-orders.ts';

const MAX = 1024 * 1024;

let orders: NoticedOrders;

beforeAll(async () => {
  orders = await startNoticedOrders();
});
afterAll(() => orders[Symbol.asyncDispose]());

describe.each(PROTOCOLS)('over %s', (protocol) => {
  const ask: Client['ask'] = (asked) => orders.clientOf(protocol).ask(asked);

  describe('edited responses', () => {
    it('BODY-2, BODY-3: an object gets the member first, and the new Content-Length', async () => {
      const answer = await orders.askFor(ask, json(BODY));
      expect(answer.text).toBe(edited(BODY, answer.member));
      expect(answer.status).toBe(200);
      expect(answer.headers).toMatchObject({
        'content-length': String(Buffer.byteLength(edited(BODY, answer.member))),
        'content-type': 'application/json; charset=utf-8',
        sunset: 'Thu, 15 Apr 2027 00:00:00 GMT',
      });
      expect(answer.complete).toBe(true);
      const line = await orders.gateway.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ body_notice: 'added', bytes: answer.body.length });
    });

    it('BODY-3: a chunked body gets a Content-Length instead', async () => {
      const answer = await orders.askFor(ask, (socket) => {
        socket.write(
          'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
        );
        socket.write('2\r\n{"\r\n');
        setImmediate(() => socket.write('5\r\na":1}\r\n0\r\n\r\n'));
      });
      expect(answer.text).toBe(edited('{"a":1}', answer.member));
      expect(answer.headers['content-length']).toBe(String(answer.body.length));
      expect(answer.headers).not.toHaveProperty('transfer-encoding');
    });

    it('BODY-3: a body that ends with its connection gets a Content-Length too', async () => {
      const close: Reply = (socket) =>
        socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{"a":1}');
      const answer = await orders.askFor(ask, close);
      expect(answer.text).toBe(edited('{"a":1}', answer.member));
      expect(answer.headers['content-length']).toBe(String(answer.body.length));
    });

    it('BODY-2: a byte order mark stays first', async () => {
      const answer = await orders.askFor(ask, json('\u{feff} {}'));
      expect(answer.text).toBe(`\u{feff} {${answer.member}}`);
    });

    it.each([
      ['POST', 201],
      ['PUT', 200],
      ['PATCH', 202],
    ])('BODY-1, BODY-6: the response to %s with %i is edited', async (method, status) => {
      const answer = await orders.askFor(
        ask,
        reply(status, ['Content-Type: application/vnd.acme+json'], BODY),
        {
          method,
          body: '{}',
        },
      );
      expect(answer.text).toBe(edited(BODY, answer.member));
      expect(answer.status).toBe(status);
    });

    it('LNK-2: an operation has its own date, successor, guide and reason', async () => {
      const { json: body } = await ask({ path: '/api/v1/orders/reports/7' });
      expect(body._deprecation).toEqual({
        deprecated: true,
        sunset_date: '2027-01-15',
        replacement: 'https://127.0.0.1/api/v2/orders/documents/7',
        migration_guide: 'https://docs.example.com/orders/reports',
        reason: 'reports are documents',
      });
    });

    it('ORD-5: CORS fields and the echo of versions stay', async () => {
      const answer = await orders.askFor(ask, json(BODY, 'ETag: "x"'), {
        headers: { origin: 'https://app.example.com' },
      });
      expect(answer.text).toBe(edited(BODY, answer.member));
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': 'https://app.example.com',
        'access-control-expose-headers': expect.stringContaining('ETag'),
        'x-api-version-served': 'v1',
        'x-api-lifecycle-stage': 'deprecated',
      });
    });
  });

  describe('content codings', () => {
    it('BODY-3: the upstream gets Accept-Encoding: identity, whatever the client accepts', async () => {
      for (const headers of [{ 'accept-encoding': 'gzip, br' }, {}] as Fields[]) {
        const { head } = await orders.askFor(ask, json(BODY, 'Vary: Accept-Encoding'), { headers });
        expect(head.match(/^accept-encoding:.*$/gm)).toEqual(['accept-encoding: identity']);
      }
    });

    it.each([
      ['gzip', gzipSync],
      ['x-gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
      ['zstd', zstdCompressSync],
    ])('BODY-3: %s is decoded, and Vary stays', async (coding, encode) => {
      const lines = [`Content-Encoding: ${coding}`, 'Vary: Accept-Encoding'];
      const answer = await orders.askFor(ask, json(encode(Buffer.from(BODY)), ...lines));
      expect(answer.text).toBe(edited(BODY, answer.member));
      expect(answer.headers).not.toHaveProperty('content-encoding');
      expect(answer.headers.vary).toContain('Accept-Encoding');
    });

    it.each(['constructor', '__proto__', 'hasownproperty'])(
      'FWD-4: a request field with the name %s is handled like any other',
      async (name) => {
        const answer = await orders.askFor(ask, json(BODY), { headers: Object.fromEntries([[name, 'x']]) });
        expect(answer.text).toBe(edited(BODY, answer.member));
      },
    );

    it.each([
      ['a decompression bomb', gzipSync(Buffer.from(`{"a":"${' '.repeat(50 * MAX)}"}`))],
      ['a body that is not gzip', Buffer.from(BODY)],
      ['an array', gzipSync(Buffer.from('[{}]'))],
    ])('BODY-3: %s passes unchanged', async (_title, bytes) => {
      const answer = await orders.askFor(ask, json(bytes, 'Content-Encoding: gzip'));
      expect(answer.body.equals(bytes)).toBe(true);
      expect(answer.headers).toMatchObject({
        'content-encoding': 'gzip',
        'content-length': String(bytes.length),
      });
    });
  });

  describe('unedited responses', () => {
    const LARGE = `{"a":"${'x'.repeat(MAX)}"}`;
    const LATIN1 = Buffer.from('{"a":"\xe9"}', 'latin1');
    const ABOUT_BYTES = [
      'Last-Modified: Mon, 01 Jun 2026 00:00:00 GMT',
      'Signature: a=:AA==:',
      `ETag: ${TAG}`,
    ];

    it.each<[string, number, string, string | Buffer, string | undefined]>([
      ['an array', 200, '', '[{"a":1}]', 'not_object'],
      ['a scalar', 200, '', '"{}"', 'not_object'],
      ['an empty body', 200, '', '', 'not_object'],
      ['invalid JSON', 200, '', '{"a":1', 'malformed'],
      ['bytes that are not UTF-8', 200, '', LATIN1, 'malformed'],
      ['an object with its own member', 200, '', '{"\\u005fdeprecation":0}', 'own_member'],
      ['HTML', 200, 'Content-Type: text/html', BODY, 'not_json'],
      ['problem+json', 200, 'Content-Type: application/problem+json', BODY, 'not_json'],
      ['newline-delimited JSON', 200, 'Content-Type: application/x-ndjson', '{}\n{}\n', 'not_json'],
      ['a 200 with Content-Range', 200, 'Content-Range: bytes 0-9/100', BODY, 'partial'],
      ['CACHE-4: no-transform', 200, 'Cache-Control: max-age=1, no-transform', BODY, 'no_transform'],
      ['two codings', 200, 'Content-Encoding: br, gzip', BODY, 'coding'],
      ['BODY-4: a wrong digest', 200, `Content-Digest: sha-256=:${sha256('else')}:`, BODY, 'digest'],
      ['one byte over the limit', 200, '', LARGE, 'too_large'],
      ['an error', 404, '', BODY, undefined],
      ['206', 206, '', BODY, undefined],
      ['204', 204, '', '', undefined],
    ])('BODY-1: %s', async (_title, status, line, body, outcome) => {
      const type = line.startsWith('Content-Type') ? [] : ['Content-Type: application/json'];
      const answer = await orders.askFor(
        ask,
        reply(status, [line || 'X-Line: none', ...type, ...ABOUT_BYTES], body),
      );
      expect(answer.status).toBe(status);
      expect(answer.body.equals(Buffer.from(body))).toBe(true);
      expect(answer.headers).toMatchObject({
        'last-modified': 'Mon, 01 Jun 2026 00:00:00 GMT',
        signature: 'a=:AA==:',
        etag: `"abc${suffixOf(answer.member)}"`,
        deprecation: '@1768435200',
      });
      const logged = await orders.gateway.accessLine(answer.headers['x-request-id']);
      expect(logged.body_notice).toBe(outcome);
    });

    it('BODY-1: a chunked body over the limit, which keeps all its bytes', async () => {
      const chunk = Buffer.alloc(65_536, 'x');
      const answer = await orders.askFor(ask, (socket) => {
        socket.write(
          'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
        );
        for (let sent = 0; sent < 48; sent += 1)
          socket.write(Buffer.concat([Buffer.from('10000\r\n'), chunk, Buffer.from('\r\n')]));
        socket.write('0\r\n\r\n');
      });
      expect(answer.body.length).toBe(48 * chunk.length);
      expect(answer.body.every((byte) => byte === 120)).toBe(true);
      const line = await orders.gateway.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ body_notice: 'too_large', bytes: 48 * chunk.length });
    });

    it('BODY-1: server-sent events, one by one', async () => {
      let next: (() => void) | undefined;
      const tail = orders.place((socket) => {
        socket.write(
          'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
        );
        socket.write('9\r\ndata: {}\n\r\n');
        next = () => socket.write('0\r\n\r\n');
      });
      const asking = orders.clientOf(protocol).begin({ path: `/api/v1/orders${tail}` });
      expect(String(await asking.firstBytes)).toBe('data: {}\n');
      next?.();
    });

    it.each(['/api/v2/orders/7', '/api/v3/orders/7', '/api/v1/orders/plain'])(
      'BODY-1: request and response pass unchanged for %s, which has no notice',
      async (path) => {
        orders.replies.set('7', json(BODY, `ETag: ${TAG}`));
        orders.replies.set('plain', json(BODY, `ETag: ${TAG}`));
        const headers = { 'accept-encoding': 'gzip', range: 'bytes=0-1', 'if-none-match': '"x"' };
        const answer = await ask({ path, headers });
        expect(answer.text).toBe(BODY);
        expect(answer.headers.etag).toBe(TAG);
        const head = orders.lastHead(path.replace(/^\/api\/v\d\/orders/, '/echo'));
        expect(head).toContain('accept-encoding: gzip');
        expect(head).toContain('range: bytes=0-1');
        expect(head).toContain('if-none-match: "x"');
        const line = await orders.gateway.accessLine(answer.headers['x-request-id']);
        expect(line).not.toHaveProperty('body_notice');
      },
    );

    it('BODY-1: every response before the deprecation date', async () => {
      orders.clock.now = Date.UTC(2026, 0, 15) - 1;
      const before = await orders.askFor(ask, json(BODY, `ETag: ${TAG}`));
      orders.clock.now += 1;
      const after = await ask({ path: `/api/v1/orders${before.tail}` });
      orders.clock.now = DAY;
      expect(before.text).toBe(BODY);
      expect(before.headers.etag).toBe(TAG);
      expect(after.text).toBe(edited(BODY, before.member));
      expect(after.headers.etag).toBe(`"abc${suffixOf(before.member)}"`);
    });
  });

  describe('errors', () => {
    const half: Reply = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{"a":1');
      setImmediate(() => socket.destroy());
    };

    it('FWD-18: an upstream that fails within a held body leads to a complete 502', async () => {
      const answer = await orders.askFor(ask, half);
      expect(answer.status).toBe(502);
      expect(answer.complete).toBe(true);
      const line = await orders.gateway.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ fault: 'upstream_reset' });
    });

    it('FWD-17: an upstream that fails beyond the limit leads to an incomplete response', async () => {
      const answer = await orders.askFor(ask, (socket) => {
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
        );
        socket.write(`200000\r\n{"a":"${'x'.repeat(MAX + 100)}`);
        setTimeout(() => socket.destroy(), 50);
      });
      expect(answer.status).toBe(200);
      expect(answer.complete).toBe(false);
    });

    it('FWD-17: a client disconnect while the body is held ends the upstream request', async () => {
      let held: Socket | undefined;
      const tail = orders.place((socket) => {
        held = socket;
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{"a":1');
      });
      const asking = orders.clientOf(protocol).begin({ path: `/api/v1/orders${tail}` });
      await vi.waitFor(() => expect(held).toBeDefined(), { timeout: 20_000 });
      asking.leave();
      await vi.waitFor(
        () => expect(orders.upstream.connections.find(({ socket }) => socket === held)?.gone).toBe(true),
        { timeout: 20_000 },
      );
    });
  });
});

describe('the metric', () => {
  it('counts each response by its outcome', async () => {
    const of = (outcome: string) =>
      orders.gateway.metric(`sundial_body_notices_total{api="orders",version="v1",outcome="${outcome}"}`);
    for (const outcome of ['added', 'own_member', 'too_large', 'no_transform', 'digest'])
      expect(await of(outcome), outcome).toBeGreaterThanOrEqual(2);
  });
});
