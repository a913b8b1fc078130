// The head parser of the fast plane: a subset of what Node's strictest parser accepts, read alike.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { strictnessRefusal } from '../../../gateway/exchange/strictness.ts';
import { compileBounds } from '../../../gateway/plan/compile/bounds.ts';
import { createHeadReader } from '../../../gateway/plane/fast/request-head.ts';
import { FUZZ_TIMEOUT_MS, fuzz } from '../../support/fuzz.ts';
import { fieldLines, mutated } from '../../support/mutated-bytes.ts';
import { createBytesParser } from '../../support/parsed-request.ts';

const bounds = compileBounds({});
const parser = createBytesParser();
const readHead = createHeadReader(bounds);
const read = (text: string) => readHead(Buffer.from(text, 'latin1'));
const head = (...lines: readonly string[]): string =>
  ['GET /orders/7?x=1 HTTP/1.1', 'Host: api.example.com', ...lines, '', ''].join('\r\n');

const whole = fc
  .record({
    method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
    target: fc.constantFrom('/', '/orders/7', '/a%2Fb;c?x=%2f', '/orders?', '//', '/..', '*', 'http://a/'),
    lines: fieldLines,
    more: fc.constantFrom(
      '',
      'Content-Length: 5',
      'Transfer-Encoding: chunked',
      'Connection: close',
      'Connection: keep-alive, X-A',
      'Expect: 100-continue',
      'X_Y: 1',
    ),
  })
  .map(({ method, target, lines, more }) =>
    [
      `${method} ${target} HTTP/1.1`,
      'Host: api.example.com',
      ...lines,
      ...(more === '' ? [] : [more]),
      '',
      '',
    ].join('\r\n'),
  );

describe('SMG-1 to SMG-25: the head of a request', () => {
  it('is read by Node’s parser in the same way if the fast parser accepts it', {
    timeout: FUZZ_TIMEOUT_MS,
  }, async () => {
    let recognised = 0;
    await fuzz(
      fc.asyncProperty(mutated(whole), async (text) => {
        const found = read(text);
        if (typeof found === 'string') return;
        recognised += 1;
        const [raw] = await parser.parse(text);
        if (raw === undefined) throw new Error('Node takes no request from it');
        expect(strictnessRefusal(raw, false, bounds)).toBeUndefined();
        expect(raw).toMatchObject({ method: found.method, url: found.url, httpVersion: '1.1' });
        expect({ ...found.headers }).toEqual({ ...raw.headers });
        expect(found.underscored).toEqual((raw as { underscored?: string[] }).underscored);
        expect(found.octets).toBe(text.indexOf('\r\n\r\n') + 4);
        const said = (raw.headers.connection ?? '').toLowerCase().split(',');
        expect(found.keepsAlive).toBe(!said.some((token) => token.trim() === 'close'));
      }),
      4_000,
    );
    expect(recognised).toBeGreaterThan(400);
  });

  it('stays with Node’s parser once a first part of it was left to that parser', async () => {
    await fuzz(
      fc.property(mutated(whole, 1), (text) => {
        const end = text.indexOf('\r\n\r\n');
        let isOther = false;
        for (let length = 1; length <= text.length; length += 1) {
          const found = read(text.slice(0, length));
          if (isOther) expect(found).toBe('other');
          isOther = found === 'other';
          if (typeof found !== 'string') {
            expect(length).toBeGreaterThanOrEqual(end + 4);
            return;
          }
        }
      }),
      300,
    );
  });

  it.each([
    ['another method', 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a method in small letters', 'get / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an empty line before it', '\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['two spaces', 'GET  / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a space after the version', 'GET / HTTP/1.1 \r\nHost: a\r\n\r\n'],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\n\r\n'],
    ['SMG-16: HTTP/2.0', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n'],
    ['SMG-7: an absolute target', 'GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['SMG-8: OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a fragment', 'GET /#a HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an octet beyond ASCII in the target', 'GET /\u00e4 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['SMG-11: a bare LF after the request line', 'GET / HTTP/1.1\nHost: a\r\n\r\n'],
    ['SMG-11: a bare LF after a field', head('X-A: 1\nX-B: 2')],
    ['SMG-6: no Host', 'GET / HTTP/1.1\r\nX-A: 1\r\n\r\n'],
    ['SMG-6: two Host fields', head('Host: api.example.com')],
    ['SMG-10: a folded line', head('X-A: 1\r\n 2')],
    ['SMG-9: a space before the colon', head('X-A : 1')],
    ['no colon', head('X-A')],
    ['no name', head(': 1')],
    ['a tab before the value', head('X-A:\t1')],
    ['two spaces before the value', head('X-A:  1')],
    ['a space after the value', head('X-A: 1 ')],
    ['an octet beyond ASCII in a value', head('X-A: \u00e4')],
    ['SMG-11: NUL in a value', head('X-A: \0')],
    ['SMG-1: both framings', head('Content-Length: 5', 'Transfer-Encoding: chunked')],
    ['SMG-5: two lengths', head('Content-Length: 5', 'Content-Length: 5')],
    ['SMG-5: a signed length', head('Content-Length: +5')],
    ['SMG-5: a list of lengths', head('Content-Length: 5, 5')],
    ['SMG-3: another coding', head('Transfer-Encoding: gzip, chunked')],
    ['SMG-4: two codings', head('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')],
    ['SMG-17: two tokens', head('Authorization: Bearer a', 'Authorization: Bearer b')],
    ['WS-1: an upgrade', head('Connection: upgrade', 'Upgrade: websocket')],
    ['an upgrade that is only named', head('Connection: keep-alive, Upgrade')],
    ['FWD-11: another expectation', head('Expect: 200-ok')],
    ['SMG-24: too many fields', head(...Array.from({ length: 300 }, (_, at) => `X-${at}: 1`))],
    ['SMG-24: fields that are too large', head(`X-A: ${'a'.repeat(20_000)}`)],
    ['SMG-24: a target that is too long', `GET /${'a'.repeat(9_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ])('is left to Node’s parser: %s', (_what, text) => {
    expect(read(text)).toBe('other');
  });

  it('has joined values of repeated list fields, and no names of its prototype', () => {
    const found = read(head('Accept: a/b', 'Accept: c/d', '__proto__: 1', 'constructor: 2', 'X_Y: 3'));
    if (typeof found === 'string') throw new Error(found);
    expect({ ...found.headers }).toEqual({ host: 'api.example.com', accept: 'a/b, c/d', constructor: '2' });
    expect(found.headers.toString).toBeUndefined();
    expect(found.underscored).toEqual(['__proto__', 'x_y']);
  });

  it('is read correctly with more field names than the cache holds', () => {
    for (let round = 0; round < 40; round += 1) {
      const lines = Array.from({ length: 200 }, (_, at) => `X-Name-${round}-${at}: ${at}`);
      const found = read(head(...lines));
      expect(typeof found === 'string' ? found : found.headers[`x-name-${round}-199`]).toBe('199');
    }
  });
});
