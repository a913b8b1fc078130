// Headers of bodies with a notice, digests and tags above all, and conditional requests with such tags.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGateway } from '../support/gateway.ts';
import { type Answer, type Ask, type Client, type Fields, overHttp1 } from '../support/http-client.ts';
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

let orders: NoticedOrders;

beforeAll(async () => {
  orders = await startNoticedOrders();
});
afterAll(() => orders[Symbol.asyncDispose]());

describe.each(PROTOCOLS)('over %s', (protocol) => {
  const ask: Client['ask'] = (asked) => orders.clientOf(protocol).ask(asked);

  describe('representation headers', () => {
    it('BODY-4: digests cover the edited bytes; older digests and signatures are removed', async () => {
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
      const answer = await orders.askFor(ask, json(BODY, ...lines));
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

    it('BODY-4: a digest of the encoded bytes is replaced by one of the decoded bytes', async () => {
      const coded = gzipSync(BODY);
      const lines = ['Content-Encoding: gzip', `Content-Digest: sha-256=:${sha256(coded)}:`];
      const answer = await orders.askFor(ask, json(coded, ...lines));
      expect(answer.text).toBe(edited(BODY, answer.member));
      expect(answer.headers['content-digest']).toBe(`sha-256=:${sha256(answer.body)}:`);
    });

    it.each(['abc', 'w/"abc"'])(
      'BODY-5: %s is not a valid tag, and is removed from an edited response',
      async (tag) => {
        const { headers } = await orders.askFor(ask, json(BODY, `ETag: ${tag}`));
        expect(headers).not.toHaveProperty('etag');
      },
    );

    it('RFC 9110 §9.3.4: the tag in the response to a write is unchanged', async () => {
      const stored = reply(201, ['Content-Type: application/json', `ETag: ${TAG}`], BODY);
      const answer = await orders.askFor(ask, stored, { method: 'POST', body: '{}' });
      expect(answer.headers.etag).toBe(TAG);
      expect(answer.text).toBe(edited(BODY, answer.member));
    });

    it('BODY-7, HEAD-1: HEAD has the headers of GET, except those that need the body', async () => {
      const lines = [`ETag: ${TAG}`, `Content-Digest: sha-256=:${sha256(BODY)}:`, 'Accept-Ranges: bytes'];
      const got = await orders.askFor(ask, json(BODY, ...lines));
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

    it('BODY-7: HEAD of an unedited body keeps Content-Length', async () => {
      const got = await orders.askFor(ask, reply(200, ['Content-Type: text/plain'], 'plain'));
      const head = await ask({ method: 'HEAD', path: `/api/v1/orders${got.tail}` });
      expect(head.headers['content-length']).toBe('5');
    });
  });

  describe('conditional requests', () => {
    /** A resource with one tag, which evaluates conditions as an origin server does. */
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

    it.each([TAG, `W/${TAG}`])('BODY-5: GET returns an edited tag, which then gets 304: %s', async (tag) => {
      const got = await orders.askFor(ask, origin(tag));
      const noticed = tag.replace(/"$/, `${suffixOf(got.member)}"`);
      expect(got.headers.etag).toBe(noticed);
      const path = `/api/v1/orders${got.tail}`;
      const again = await ask({ path, headers: { 'if-none-match': `"x", ${noticed}` } });
      expect(again.status).toBe(304);
      expect(orders.lastHead(`/echo${got.tail}`)).toContain(`if-none-match: ${tag.toLowerCase()}`);
      expect(again.headers).toMatchObject({ etag: noticed, deprecation: '@1768435200' });
      // A cache would take them for those of the edited copy (RFC 9111 §3.2).
      for (const name of ['last-modified', 'content-digest', 'content-length'])
        expect(again.headers).not.toHaveProperty(name);
      expect(again.body.length).toBe(0);
    });

    it('BODY-5: a 304 has no Content-Encoding, so caches keep that of their copies', async () => {
      const answer = await orders.askFor(
        ask,
        reply(304, [`ETag: ${TAG}`, 'Content-Encoding: gzip', 'Unencoded-Digest: sha-256=:AAAA:']),
      );
      expect(answer.status).toBe(304);
      expect(answer.headers).not.toHaveProperty('content-encoding');
      expect(answer.headers).not.toHaveProperty('unencoded-digest');
    });

    it('BODY-5: a JSON array gets 304 too', async () => {
      const got = await orders.askFor(ask, origin(TAG, '[]'));
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
    ])('BODY-5: %s gets the whole response', async (_title, headers) => {
      const answer = await orders.askFor(ask, origin(TAG), { headers });
      expect(answer.status).toBe(200);
      expect(answer.text).toBe(edited(BODY, answer.member));
    });

    it('BODY-5: a write with the edited tag reaches the upstream with the original tag', async () => {
      const got = await orders.askFor(ask, origin(TAG));
      const path = `/api/v1/orders${got.tail}`;
      for (const method of ['PUT', 'PATCH', 'DELETE', 'POST']) {
        const headers = { 'if-match': `${got.headers.etag}` };
        const put = await ask({ path, method, headers, body: method === 'DELETE' ? undefined : '{}' } as Ask);
        expect(put.status, method).toBe(200);
        expect(orders.lastHead(`/echo${got.tail}`)).toContain('if-match: "abc"\r\n');
      }
    });

    it('BODY-5: a write may use the tag of an earlier write', async () => {
      const got = await orders.askFor(ask, origin(TAG), { method: 'PUT', body: '{}' });
      const headers = { 'if-match': got.headers.etag ?? '' };
      const put = await ask({ path: `/api/v1/orders${got.tail}`, method: 'PUT', headers, body: '{}' });
      expect(put.status).toBe(200);
    });

    it('BODY-5: a write to an operation without its own rules uses the tag of its GET', async () => {
      orders.replies.set('reports/7', origin(TAG));
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
      // A condition for an operation whose GET has no notice is unchanged.
      orders.replies.set('plain', origin('"abc~d12345678"'));
      const headers = { 'if-match': '"abc~d12345678"' };
      const plain = await ask({ path: '/api/v1/orders/plain', method: 'PUT', headers, body: '{}' });
      expect(plain.status).toBe(200);
    });

    it('precondition_failed: a write for a copy with another notice gets 412', async () => {
      const answer = await orders.askFor(ask, origin(TAG), {
        method: 'PUT',
        headers: { 'if-match': '"abc~d00000000"' },
        body: '{}',
      });
      expect(answer.status).toBe(412);
      expect(answer.head).toBe('');
      expect(answer.json).toEqual({
        error: 'Precondition Failed',
        message: expect.stringContaining('Read the resource again'),
      });
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', deprecation: '@1768435200' });
      const line = await orders.gateway.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: 'precondition_failed', status: 412 });
    });
  });
});

describe('a notice that changes', () => {
  it('BODY-5: an extension changes the tag: the old one gets 200, and 412 on a write', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sundial-notice-'));
    await cp(join(import.meta.dirname, 'body-notice'), folder, { recursive: true });
    const environment = { UPSTREAM: orders.upstream.url };
    await using changing = await runGateway({ policies: folder, lifecycleNow: () => DAY, environment });
    await using client = overHttp1(changing.https);
    orders.replies.set('changing', json(BODY, `ETag: ${TAG}`));
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
