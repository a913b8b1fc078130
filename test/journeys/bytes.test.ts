// Bodies pass unchanged in both directions, whatever they contain and however they are framed (FWD-20).
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { runGateway } from '../support/gateway.ts';
import { type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';

const stack = new AsyncDisposableStack();
const clients = new Map<string, Client>();
const JSON_BYTES = '{"a":12345678901234567890,"a":1.0, "b":\t"\\u00e9\u00e9"}\n';
const MULTIPART = Buffer.concat([
  Buffer.from('--x\r\nContent-Disposition: form-data; name="f"; filename="a\u00e9.bin"\r\n\r\n'),
  randomBytes(1024),
  Buffer.from('\r\n--x--\r\n'),
]);
const LARGE = randomBytes(5 * 1024 * 1024);

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const upstream = stack.use(
    await startRawUpstream((target, socket) => {
      const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/vnd.acme+json; charset=utf-8; v="1 2"\r\n';
      if (target === '/bytes/json') {
        socket.write(`${head}Content-Length: ${Buffer.byteLength(JSON_BYTES)}\r\n\r\n${JSON_BYTES}`);
      } else if (target === '/bytes/length') {
        socket.write(`${head}Content-Length: ${LARGE.length}\r\n\r\n`);
        socket.write(LARGE);
      } else {
        socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
        for (let at = 0; at < LARGE.length; at += 65_536) {
          socket.write('10000;ext=1\r\n');
          socket.write(LARGE.subarray(at, at + 65_536));
          socket.write('\r\n');
        }
        socket.write('0\r\nX-Trailer: dropped\r\n\r\n');
      }
    }),
  );
  const gateway = stack.use(
    await runGateway({ policies: 'bytes', environment: { ECHO: echo.url, BYTES: upstream.url } }),
  );
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
});
afterAll(() => stack.disposeAsync());

const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s the gateway forwards unchanged', (protocol) => {
  const ask: Client['ask'] = (asked) =>
    clients.get(protocol)?.ask(asked) ?? Promise.reject(new Error(protocol));
  const path = '/api/v1/orders';

  it.each([
    ['POST', 'JSON that a parser would change', 'application/json', Buffer.from(JSON_BYTES)],
    ['PUT', 'a form with its boundary', 'multipart/form-data; boundary=x', MULTIPART],
    ['PATCH', 'bytes of an unknown type', 'application/x-nobody-knows; a="b;c"', randomBytes(70_000)],
    ['DELETE', 'an unusual body', 'text/plain', Buffer.from('why')],
    ['GET', 'SMG-18: an unexpected body', 'text/plain', Buffer.from('why')],
  ])('FWD-20: %s with %s', async (method, _title, type, body) => {
    const headers = { 'content-type': type, 'content-length': String(body.length) };
    const { status, json } = await ask({ path, method, headers, body });
    expect(status).toBe(200);
    expect(json).toMatchObject({ method, body: { length: body.length, sha256: digest(body) } });
    expect(json.headers).toContainEqual(['content-type', type]);
    expect(json.headers).toContainEqual(['content-length', String(body.length)]);
  });

  it('an upload of 5 MB without a length', async () => {
    const { json } = await ask({ path, method: 'POST', body: Readable.from(chunksOf(LARGE)) });
    expect(json).toMatchObject({ body: { length: LARGE.length, sha256: digest(LARGE) } });
    expect(json.headers).toContainEqual(['transfer-encoding', 'chunked']);
  });

  it('an empty body', async () => {
    const { json } = await ask({ path, method: 'POST', headers: { 'content-length': '0' }, body: '' });
    expect(json).toMatchObject({ method: 'POST', body: { length: 0 } });
  });

  it('FWD-20: JSON that a parser would change, and its type with every parameter', async () => {
    const answer = await ask({ path: '/api/v2/orders/json' });
    expect(answer).toMatchObject({ status: 200, text: JSON_BYTES, complete: true });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/vnd.acme+json; charset=utf-8; v="1 2"',
      'content-length': String(Buffer.byteLength(JSON_BYTES)),
    });
  });

  it.each(['length', 'chunks'])('a response of 5 MB framed by %s', async (framing) => {
    const answer = await ask({ path: `/api/v2/orders/${framing}` });
    expect(answer.complete).toBe(true);
    expect(answer.body.length).toBe(LARGE.length);
    expect(digest(answer.body)).toBe(digest(LARGE));
    expect(answer.headers['content-length']).toBe(framing === 'length' ? String(LARGE.length) : undefined);
    // FWD-14: trailers are not forwarded.
    expect(answer.headers).not.toHaveProperty('x-trailer');
  });
});

function* chunksOf(bytes: Buffer): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
}
