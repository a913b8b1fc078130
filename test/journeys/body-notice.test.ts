// The `_deprecation` member on real sockets: what clients read, what the upstream is asked, and what passes untouched.
// The upstream is made of bytes, so that framing, codings and digests are exactly those of each case.
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import {
  type Answer,
  type Ask,
  type Client,
  type Fields,
  overHttp1,
  overHttp2,
} from '../support/http-client.ts';
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts';

const DAY = Date.UTC(2026, 10, 20);
const MOST = 1024 * 1024;
const BODY = '{"id":12345678901234567890, "price":1.0,"id":7}\n';
const TAG = '"abc"';

type Reply = (socket: Socket, head: string) => void;

const replies = new Map<string, Reply>();
const stack = new AsyncDisposableStack();
const clients = new Map<string, Client>();
let upstream: RawUpstream;
let gateway: RunningGateway;
let now = DAY;

beforeAll(async () => {
  upstream = stack.use(
    await startRawUpstream((target, socket, head) => {
      const reply = replies.get(target.replace(/^\/echo\/?/, '').replace(/\?.*/, '')) ?? json(BODY);
      reply(socket, head);
    }),
  );
  const environment = { UPSTREAM: upstream.url };
  gateway = stack.use(await runGateway({ policies: 'body-notice', lifecycleNow: () => now, environment }));
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
});
afterAll(() => stack.disposeAsync());

function reply(status: number, lines: readonly string[], body: string | Buffer = ''): Reply {
  const bytes = Buffer.from(body);
  return (socket, head) => {
    // The body of a write would be read as the beginning of the next head on this connection.
    const isRead = /^(?:GET|HEAD) /.test(head);
    const framing = [
      ...(status === 304 || status === 204 ? [] : [`Content-Length: ${bytes.length}`]),
      ...(isRead ? [] : ['Connection: close']),
    ];
    socket.write(`${[`HTTP/1.1 ${status} -`, ...lines, ...framing].join('\r\n')}\r\n\r\n`);
    if (!head.startsWith('HEAD ')) socket.write(bytes);
    if (!isRead) socket.end();
  };
}

function json(body: string | Buffer, ...lines: readonly string[]): Reply {
  return reply(200, ['Content-Type: application/json; charset=utf-8', ...lines], body);
}

/** The notice of `tail` in v1 as it stands in a body. */
function memberOf(tail: string): string {
  return (
    '"_deprecation":{"deprecated":true,"sunset_date":"2027-04-15",' +
    `"replacement":"https://127.0.0.1/api/v2/orders${tail}",` +
    '"migration_guide":"https://docs.example.com/orders/v1-to-v2","reason":"Beträge werden ganze Zahlen"}'
  );
}
const suffixOf = (member: string) => `~d${createHash('sha256').update(member).digest('hex').slice(0, 8)}`;
const edited = (body: string, member: string) => body.replace('{', `{${member},`);
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('base64');

/** The head the upstream saw last for this target. */
function lastHead(target: string): string {
  const line = ` ${target} HTTP/1.1\r\n`;
  const heads = upstream.connections.flatMap(({ received }) => {
    const at = received.lastIndexOf(line);
    if (at === -1) return [];
    return [received.slice(received.lastIndexOf('\n', at) + 1, received.indexOf('\r\n\r\n', at))];
  });
  return heads.at(-1)?.toLowerCase() ?? '';
}

let cases = 0;
/** Asks for a resource of its own, answered by `answer`; returns with the tail it was given. */
async function askFor(
  ask: Client['ask'],
  answer: Reply,
  request: Omit<Ask, 'path'> = {},
  version = 'v1',
): Promise<Answer & { readonly tail: string; readonly head: string; readonly member: string }> {
  cases += 1;
  const tail = `/${cases}`;
  replies.set(String(cases), answer);
  const got = await ask({ ...request, path: `/api/${version}/orders${tail}` });
  return Object.assign(got, { tail, head: lastHead(`/echo${tail}`), member: memberOf(tail) });
}

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s', (protocol) => {
  const ask: Client['ask'] = (asked) =>
    clients.get(protocol)?.ask(asked) ?? Promise.reject(new Error(protocol));

  describe('what is edited', () => {
    it('BODY-2, BODY-3: an object has the member first, its other bytes as they were, and its own length', async () => {
      const answer = await askFor(ask, json(BODY));
      expect(answer.text).toBe(edited(BODY, answer.member));
      expect(answer.status).toBe(200);
      expect(answer.headers).toMatchObject({
        'content-length': String(Buffer.byteLength(edited(BODY, answer.member))),
        'content-type': 'application/json; charset=utf-8',
        sunset: 'Thu, 15 Apr 2027 00:00:00 GMT',
      });
      expect(answer.complete).toBe(true);
      const line = await gateway.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ body_notice: 'added', bytes: answer.body.length });
    });

    it('BODY-3: a chunked one has a length instead', async () => {
      const answer = await askFor(ask, (socket) => {
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

    it('BODY-3: one that ends with its connection has one too', async () => {
      const close: Reply = (socket) =>
        socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{"a":1}');
      const answer = await askFor(ask, close);
      expect(answer.text).toBe(edited('{"a":1}', answer.member));
      expect(answer.headers['content-length']).toBe(String(answer.body.length));
    });

    it('BODY-2: a byte order mark stays first', async () => {
      const answer = await askFor(ask, json('\u{feff} {}'));
      expect(answer.text).toBe(`\u{feff} {${answer.member}}`);
    });

    it.each([
      ['POST', 201],
      ['PUT', 200],
      ['PATCH', 202],
    ])('BODY-1: what %s answers with %i', async (method, status) => {
      const answer = await askFor(ask, reply(status, ['Content-Type: application/vnd.acme+json'], BODY), {
        method,
        body: '{}',
      });
      expect(answer.text).toBe(edited(BODY, answer.member));
      expect(answer.status).toBe(status);
    });

    it('LNK-2: an operation has its own day, successor, guide and reason', async () => {
      const { json: body } = await ask({ path: '/api/v1/orders/reports/7' });
      expect(body._deprecation).toEqual({
        deprecated: true,
        sunset_date: '2027-01-15',
        replacement: 'https://127.0.0.1/api/v2/orders/documents/7',
        migration_guide: 'https://docs.example.com/orders/reports',
        reason: 'reports are documents',
      });
    });

    it('ORD-5: pages may read the answer as before, and the echo is there', async () => {
      const answer = await askFor(ask, json(BODY, 'ETag: "x"'), {
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

  describe('codings', () => {
    it('BODY-3: the upstream is asked for none, whatever the client takes', async () => {
      for (const headers of [{ 'accept-encoding': 'gzip, br' }, {}] as Fields[]) {
        const { head } = await askFor(ask, json(BODY, 'Vary: Accept-Encoding'), { headers });
        expect(head.match(/^accept-encoding:.*$/gm)).toEqual(['accept-encoding: identity']);
      }
    });

    it.each([
      ['gzip', gzipSync],
      ['x-gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
      ['zstd', zstdCompressSync],
    ])('BODY-3: %s is undone, and Vary stays', async (coding, encode) => {
      const lines = [`Content-Encoding: ${coding}`, 'Vary: Accept-Encoding'];
      const answer = await askFor(ask, json(encode(Buffer.from(BODY)), ...lines));
      expect(answer.text).toBe(edited(BODY, answer.member));
      expect(answer.headers).not.toHaveProperty('content-encoding');
      expect(answer.headers.vary).toContain('Accept-Encoding');
    });

    it.each(['constructor', '__proto__', 'hasownproperty'])(
      'FWD-4: a field of the request that is named %s is one like any other',
      async (name) => {
        const answer = await askFor(ask, json(BODY), { headers: Object.fromEntries([[name, 'x']]) });
        expect(answer.text).toBe(edited(BODY, answer.member));
      },
    );

    it.each([
      ['a bomb', gzipSync(Buffer.from(`{"a":"${' '.repeat(50 * MOST)}"}`))],
      ['what is not in its coding', Buffer.from(BODY)],
      ['an array', gzipSync(Buffer.from('[{}]'))],
    ])('BODY-3: %s passes as it came', async (_title, bytes) => {
      const answer = await askFor(ask, json(bytes, 'Content-Encoding: gzip'));
      expect(answer.body.equals(bytes)).toBe(true);
      expect(answer.headers).toMatchObject({
        'content-encoding': 'gzip',
        'content-length': String(bytes.length),
      });
    });
  });

  describe('what passes untouched', () => {
    const LARGE = `{"a":"${'x'.repeat(MOST)}"}`;
    const LATIN1 = Buffer.from('{"a":"\xe9"}', 'latin1');
    const ABOUT_BYTES = [
      'Last-Modified: Mon, 01 Jun 2026 00:00:00 GMT',
      'Signature: a=:AA==:',
      `ETag: ${TAG}`,
    ];

    it.each<[string, number, string, string | Buffer, string | undefined]>([
      ['an array', 200, '', '[{"a":1}]', 'not_object'],
      ['a scalar', 200, '', '"{}"', 'not_object'],
      ['nothing', 200, '', '', 'not_object'],
      ['what is no JSON', 200, '', '{"a":1', 'malformed'],
      ['bytes in another alphabet', 200, '', LATIN1, 'malformed'],
      ['a member of the upstream', 200, '', '{"\\u005fdeprecation":0}', 'own_member'],
      ['a page', 200, 'Content-Type: text/html', BODY, 'not_json'],
      ['a problem', 200, 'Content-Type: application/problem+json', BODY, 'not_json'],
      ['lines of JSON', 200, 'Content-Type: application/x-ndjson', '{}\n{}\n', 'not_json'],
      ['a part', 200, 'Content-Range: bytes 0-9/100', BODY, 'partial'],
      ['CACHE-4: no-transform', 200, 'Cache-Control: max-age=1, no-transform', BODY, 'no_transform'],
      ['two codings', 200, 'Content-Encoding: br, gzip', BODY, 'coding'],
      ['BODY-4: a wrong digest', 200, `Content-Digest: sha-256=:${sha256('else')}:`, BODY, 'digest'],
      ['one byte too much', 200, '', LARGE, 'too_large'],
      ['an error', 404, '', BODY, undefined],
      ['206', 206, '', BODY, undefined],
      ['204', 204, '', '', undefined],
    ])('BODY-1: %s', async (_title, status, line, body, outcome) => {
      const type = line.startsWith('Content-Type') ? [] : ['Content-Type: application/json'];
      const answer = await askFor(
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
      const logged = await gateway.accessLine(answer.headers['x-request-id']);
      expect(logged.body_notice).toBe(outcome);
    });

    it('BODY-1: a chunked body over the limit, with all of its bytes', async () => {
      const chunk = Buffer.alloc(65_536, 'x');
      const answer = await askFor(ask, (socket) => {
        socket.write(
          'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
        );
        for (let sent = 0; sent < 48; sent += 1)
          socket.write(Buffer.concat([Buffer.from('10000\r\n'), chunk, Buffer.from('\r\n')]));
        socket.write('0\r\n\r\n');
      });
      expect(answer.body.length).toBe(48 * chunk.length);
      expect(answer.body.every((byte) => byte === 120)).toBe(true);
      const line = await gateway.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ body_notice: 'too_large', bytes: 48 * chunk.length });
    });

    it('BODY-1: events, each as it comes', async () => {
      let next: (() => void) | undefined;
      cases += 1;
      replies.set(String(cases), (socket) => {
        socket.write(
          'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
        );
        socket.write('9\r\ndata: {}\n\r\n');
        next = () => socket.write('0\r\n\r\n');
      });
      const client = clients.get(protocol);
      const asking = client?.begin({ path: `/api/v1/orders/${cases}` });
      expect(String(await asking?.firstBytes)).toBe('data: {}\n');
      next?.();
    });

    it.each(['/api/v2/orders/7', '/api/v3/orders/7', '/api/v1/orders/plain'])(
      'BODY-1: %s, which has no notice, nor is anything else done to it',
      async (path) => {
        replies.set('7', json(BODY, `ETag: ${TAG}`));
        replies.set('plain', json(BODY, `ETag: ${TAG}`));
        const headers = { 'accept-encoding': 'gzip', range: 'bytes=0-1', 'if-none-match': '"x"' };
        const answer = await ask({ path, headers });
        expect(answer.text).toBe(BODY);
        expect(answer.headers.etag).toBe(TAG);
        const head = lastHead(path.replace(/^\/api\/v\d\/orders/, '/echo'));
        expect(head).toContain('accept-encoding: gzip');
        expect(head).toContain('range: bytes=0-1');
        expect(head).toContain('if-none-match: "x"');
        const line = await gateway.accessLine(answer.headers['x-request-id']);
        expect(line).not.toHaveProperty('body_notice');
      },
    );

    it('BODY-1: everything until the day of the deprecation', async () => {
      now = Date.UTC(2026, 0, 15) - 1;
      const before = await askFor(ask, json(BODY, `ETag: ${TAG}`));
      now += 1;
      const after = await ask({ path: `/api/v1/orders${before.tail}` });
      now = DAY;
      expect(before.text).toBe(BODY);
      expect(before.headers.etag).toBe(TAG);
      expect(after.text).toBe(edited(BODY, before.member));
      expect(after.headers.etag).toBe(`"abc${suffixOf(before.member)}"`);
    });
  });

  describe('what the head says of the bytes', () => {
    it('BODY-4: digests are of the new bytes; older ones and signatures are gone', async () => {
      const lines = [
        `Content-Digest: sha-256=:${sha256(BODY)}:`,
        `Repr-Digest: sha-256=:${sha256(BODY)}:, md5=:AAAA:`,
        'Digest: SHA-256=AAAA',
        'Content-MD5: AAAA',
        `Unencoded-Digest: sha-256=:${sha256(BODY)}:`,
        'Signature-Input: a=("content-digest")',
        'Signature: a=:AAAA:',
        'Last-Modified: Mon, 01 Jun 2026 00:00:00 GMT',
        'Accept-Ranges: bytes',
      ];
      const answer = await askFor(ask, json(BODY, ...lines));
      const digest = `sha-256=:${sha256(answer.body)}:`;
      expect(answer.headers).toMatchObject({ 'content-digest': digest, 'repr-digest': digest });
      const gone = [
        'digest',
        'content-md5',
        'unencoded-digest',
        'signature',
        'signature-input',
        'last-modified',
        'accept-ranges',
      ];
      for (const name of gone) expect(answer.headers).not.toHaveProperty(name);
    });

    it('BODY-4: a digest of the coded bytes becomes one of the plain ones', async () => {
      const coded = gzipSync(BODY);
      const lines = ['Content-Encoding: gzip', `Content-Digest: sha-256=:${sha256(coded)}:`];
      const answer = await askFor(ask, json(coded, ...lines));
      expect(answer.text).toBe(edited(BODY, answer.member));
      expect(answer.headers['content-digest']).toBe(`sha-256=:${sha256(answer.body)}:`);
    });

    it.each(['abc', 'w/"abc"'])(
      'BODY-5: %s, which is no tag, does not stand for edited bytes',
      async (tag) => {
        const { headers } = await askFor(ask, json(BODY, `ETag: ${tag}`));
        expect(headers).not.toHaveProperty('etag');
      },
    );

    it('RFC 9110 §9.3.4: the tag of what was written stays as it is', async () => {
      const stored = reply(201, ['Content-Type: application/json', `ETag: ${TAG}`], BODY);
      const answer = await askFor(ask, stored, { method: 'POST', body: '{}' });
      expect(answer.headers.etag).toBe(TAG);
      expect(answer.text).toBe(edited(BODY, answer.member));
    });

    it('BODY-7, HEAD-1: HEAD has the head of GET, less what would need its body', async () => {
      const lines = [`ETag: ${TAG}`, `Content-Digest: sha-256=:${sha256(BODY)}:`, 'Accept-Ranges: bytes'];
      const got = await askFor(ask, json(BODY, ...lines));
      const head = await ask({ method: 'HEAD', path: `/api/v1/orders${got.tail}` });
      const changing = new Set(['content-length', 'content-digest', 'x-request-id', 'date']);
      const rest = ({ headers }: Answer) =>
        Object.fromEntries(Object.entries(headers).filter(([name]) => !changing.has(name)));
      expect(rest(head)).toEqual(rest(got));
      expect(head.headers).not.toHaveProperty('content-length');
      expect(head.headers).not.toHaveProperty('content-digest');
      expect(head.headers.etag).toBe(`"abc${suffixOf(got.member)}"`);
      expect(head.body.length).toBe(0);
    });

    it('BODY-7: HEAD of what is not edited keeps its length', async () => {
      const got = await askFor(ask, reply(200, ['Content-Type: text/plain'], 'plain'));
      const head = await ask({ method: 'HEAD', path: `/api/v1/orders${got.tail}` });
      expect(head.headers['content-length']).toBe('5');
    });
  });

  describe('conditions', () => {
    /** A resource with one tag that judges conditions as an origin does. */
    const origin =
      (tag: string, body = BODY): Reply =>
      (socket, head) => {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1];
        const match = field('if-match');
        const none = field('if-none-match');
        const lines = ['Content-Type: application/json', `ETag: ${tag}`];
        const since = field('if-modified-since') !== undefined && none === undefined;
        const answered =
          match !== undefined && match !== '*' && !match.split(', ').includes(tag)
            ? reply(412, ['Content-Type: application/json'], '{}')
            : since || none === '*' || none?.split(', ').includes(tag)
              ? reply(304, [
                  `ETag: ${tag}`,
                  'Last-Modified: Mon, 01 Jun 2026 00:00:00 GMT',
                  'Content-Digest: sha-256=:AAAA:',
                ])
              : field('range') === undefined
                ? reply(200, lines, body)
                : reply(206, [...lines, 'Content-Range: bytes 0-1/9'], body.slice(0, 2));
        answered(socket, head);
      };

    it.each([TAG, `W/${TAG}`])('BODY-5: GET, its tag, and 304 to that tag: %s', async (tag) => {
      const got = await askFor(ask, origin(tag));
      const noticed = tag.replace(/"$/, `${suffixOf(got.member)}"`);
      expect(got.headers.etag).toBe(noticed);
      const path = `/api/v1/orders${got.tail}`;
      const again = await ask({ path, headers: { 'if-none-match': `"x", ${noticed}` } });
      expect(again.status).toBe(304);
      expect(lastHead(`/echo${got.tail}`)).toContain(`if-none-match: ${tag.toLowerCase()}`);
      expect(again.headers).toMatchObject({ etag: noticed, deprecation: '@1768435200' });
      // They would be taken for those of the edited copy (RFC 9111 §3.2).
      for (const name of ['last-modified', 'content-digest', 'content-length'])
        expect(again.headers).not.toHaveProperty(name);
      expect(again.body.length).toBe(0);
    });

    it('BODY-5: a 304 says nothing of a coding, or caches would take their plain copies for coded ones', async () => {
      const answer = await askFor(
        ask,
        reply(304, [`ETag: ${TAG}`, 'Content-Encoding: gzip', 'Unencoded-Digest: sha-256=:AAAA:']),
      );
      expect(answer.status).toBe(304);
      expect(answer.headers).not.toHaveProperty('content-encoding');
      expect(answer.headers).not.toHaveProperty('unencoded-digest');
    });

    it('BODY-5: an array has its 304 as well', async () => {
      const got = await askFor(ask, origin(TAG, '[]'));
      expect(got.text).toBe('[]');
      const headers = { 'if-none-match': got.headers.etag ?? '' };
      expect((await ask({ path: `/api/v1/orders${got.tail}`, headers })).status).toBe(304);
    });

    it.each<[string, Fields]>([
      ['a copy without the notice', { 'if-none-match': TAG }],
      ['a copy with another notice', { 'if-none-match': '"abc~d00000000"' }],
      ['a copy known by its date', { 'if-modified-since': 'Mon, 01 Jun 2026 00:00:00 GMT' }],
      ['RNG-1: a range', { range: 'bytes=0-1' }],
      ['RNG-1: a range of a copy', { range: 'bytes=0-1', 'if-range': TAG }],
    ])('BODY-5: %s gets the whole answer', async (_title, headers) => {
      const answer = await askFor(ask, origin(TAG), { headers });
      expect(answer.status).toBe(200);
      expect(answer.text).toBe(edited(BODY, answer.member));
    });

    it('BODY-5: a write names the original by the edited tag', async () => {
      const got = await askFor(ask, origin(TAG));
      const path = `/api/v1/orders${got.tail}`;
      for (const method of ['PUT', 'PATCH', 'DELETE', 'POST']) {
        const headers = { 'if-match': `${got.headers.etag}` };
        const put = await ask({ path, method, headers, body: method === 'DELETE' ? undefined : '{}' } as Ask);
        expect(put.status, method).toBe(200);
        expect(lastHead(`/echo${got.tail}`)).toContain('if-match: "abc"\r\n');
      }
    });

    it('BODY-5: so it does by the tag of its own write', async () => {
      const got = await askFor(ask, origin(TAG), { method: 'PUT', body: '{}' });
      const headers = { 'if-match': got.headers.etag ?? '' };
      const put = await ask({ path: `/api/v1/orders${got.tail}`, method: 'PUT', headers, body: '{}' });
      expect(put.status).toBe(200);
    });

    it('BODY-5: a write to an operation without rules of its own uses the tag that the operation GET gave', async () => {
      replies.set('reports/7', origin(TAG));
      const path = '/api/v1/orders/reports/7';
      const got = await ask({ path });
      expect(got.headers.etag).toMatch(/^"abc~d[0-9a-f]{8}"$/);
      const put = await ask({
        path,
        method: 'PUT',
        headers: { 'if-match': got.headers.etag ?? '' },
        body: '{}',
      });
      expect(put.status).toBe(200);
      // And one to an operation whose GET is left out is not touched.
      replies.set('plain', origin('"abc~d12345678"'));
      const headers = { 'if-match': '"abc~d12345678"' };
      const plain = await ask({ path: '/api/v1/orders/plain', method: 'PUT', headers, body: '{}' });
      expect(plain.status).toBe(200);
    });

    it('precondition_failed: a write to a copy with another notice is answered here', async () => {
      const answer = await askFor(ask, origin(TAG), {
        method: 'PUT',
        headers: { 'if-match': '"abc~d00000000"' },
        body: '{}',
      });
      expect(answer.status).toBe(412);
      expect(answer.head).toBe('');
      expect(answer.json).toEqual({
        error: 'Precondition Failed',
        message: expect.stringContaining('Read it again'),
      });
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', deprecation: '@1768435200' });
      const line = await gateway.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: 'precondition_failed', status: 412 });
    });
  });

  describe('what goes wrong', () => {
    const half: Reply = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{"a":1');
      setImmediate(() => socket.destroy());
    };

    it('FWD-18: an upstream that breaks off leaves no half answer: nothing was written, so that it is a whole 502', async () => {
      const answer = await askFor(ask, half);
      expect(answer.status).toBe(502);
      expect(answer.complete).toBe(true);
      const line = await gateway.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ fault: 'upstream_reset' });
    });

    it('FWD-17: one that breaks off beyond the limit is seen to', async () => {
      const answer = await askFor(ask, (socket) => {
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
        );
        socket.write(`200000\r\n{"a":"${'x'.repeat(MOST + 100)}`);
        setTimeout(() => socket.destroy(), 50);
      });
      expect(answer.status).toBe(200);
      expect(answer.complete).toBe(false);
    });

    it('FWD-17: a client that leaves while the body is held ends the call', async () => {
      cases += 1;
      let held: Socket | undefined;
      replies.set(String(cases), (socket) => {
        held = socket;
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{"a":1');
      });
      const asking = clients.get(protocol)?.begin({ path: `/api/v1/orders/${cases}` });
      await vi.waitFor(() => expect(held).toBeDefined(), { timeout: 20_000 });
      asking?.leave();
      await vi.waitFor(
        () => expect(upstream.connections.find(({ socket }) => socket === held)?.gone).toBe(true),
        { timeout: 20_000 },
      );
    });
  });
});

describe('a notice that changes', () => {
  it('BODY-5: an extension is a new tag, a 200 to the old one, and a 412 to a write with it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sundial-notice-'));
    await cp(join(import.meta.dirname, 'body-notice'), folder, { recursive: true });
    const environment = { UPSTREAM: upstream.url };
    await using changing = await runGateway({ policies: folder, lifecycleNow: () => DAY, environment });
    await using client = overHttp1(changing.https);
    replies.set('changing', json(BODY, `ETag: ${TAG}`));
    const path = '/api/v1/orders/changing';
    const before = await client.ask({ path });

    const file = join(folder, 'orders.yaml');
    const extended =
      'sunset: 2027-04-15\n    extended: [{ to: 2027-07-15, announced: 2026-10-01, why: acme }]\n    successor: v2\n    guide';
    await writeFile(
      file,
      (await readFile(file, 'utf8')).replace('sunset: 2027-04-15\n    successor: v2\n    guide', extended),
    );
    await changing.reload();

    const after = await client.ask({ path, headers: { 'if-none-match': before.headers.etag ?? '' } });
    expect(after.status).toBe(200);
    expect(after.json._deprecation).toMatchObject({ sunset_date: '2027-07-15' });
    expect(after.headers.etag).not.toBe(before.headers.etag);
    const headers = { 'if-match': before.headers.etag ?? '' };
    expect((await client.ask({ path, method: 'PUT', headers, body: '{}' })).status).toBe(412);
    await rm(folder, { recursive: true });
  });
});

describe('the metric', () => {
  it('counts what became of each answer', async () => {
    const of = (outcome: string) =>
      gateway.metric(`sundial_body_notices_total{api="orders",version="v1",outcome="${outcome}"}`);
    for (const outcome of ['added', 'own_member', 'too_large', 'no_transform', 'digest'])
      expect(await of(outcome), outcome).toBeGreaterThanOrEqual(2);
  });
});
