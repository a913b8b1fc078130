// Mutated response fields of an upstream: the client gets only valid fields, also with a 101.
import { IncomingMessage, validateHeaderName, validateHeaderValue } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HeaderLines } from '../../gateway/exchange/answer-headers.ts';
import { decorate } from '../../gateway/exchange/answers/decorate.ts';
import { Fault, type ForwardOrder } from '../../gateway/exchange/directive.ts';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import type { RequestView } from '../../gateway/exchange/request-view.ts';
import { answerFieldsOf } from '../../gateway/plan/upstreams/answer-fields.ts';
import { switchedHead } from '../../gateway/plane/general/websocket/websocket-handshake.ts';
import type { Inbound } from '../../gateway/plane/port.ts';
import { cleanAnswer, finishHead } from '../../gateway/upstream/response-headers.ts';
import { deprecatedFacts, upstream as sample, view } from '../support/exchange-samples.ts';
import { fuzz } from '../support/fuzz.ts';
import { parsedField } from '../support/mutated-bytes.ts';

const HOP = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'te', 'trailer', 'upgrade'],
  ...['transfer-encoding', 'http2-settings', 'strict-transport-security', 'x-debug'],
];
const ONE = [
  'content-type',
  'location',
  'date',
  'etag',
  'expires',
  'age',
  'retry-after',
  'server',
  'sunset',
  'deprecation',
];
const headerRules = {
  request: { set: {}, remove: [] },
  response: { set: { 'x-tenant': 'acme' }, remove: ['x-debug'] },
};
const upstream = { ...sample, answerFields: answerFieldsOf(headerRules) };
const exchange = {
  decorate: (_status: number, lines: HeaderLines, facts: ExchangeFacts, seen: RequestView) =>
    decorate(lines, facts, seen, undefined),
};
const forwarded = () => ({
  inbound: { view: view({ scheme: 'http' }) } as Inbound,
  order: { headerRules, upstream } as unknown as ForwardOrder,
  facts: deprecatedFacts(),
});
/** The handshake of RFC 6455 §1.3. */
const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=';

const status = fc.constantFrom(200, 201, 204, 206, 301, 304, 404, 429, 500, 503, 99, 101, 600, 999);
const fields = fc.array(parsedField, { maxLength: 12 });

/** In undici's form: each name once, repeated values in a list. */
type Parsed = Record<string, string | string[] | undefined>;
function asParsed(lines: readonly (readonly [string, string])[]): Parsed {
  const headers: Parsed = {};
  for (const [name, value] of lines) {
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined;
    const after = before === undefined ? value : [...[before].flat(), value];
    Object.defineProperty(headers, name, {
      value: after,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return headers;
}

/** What no client may receive in a head. */
function faults(headers: object, nominated: readonly string[], ours: readonly string[]): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const what = `${name}: ${JSON.stringify(value)}`;
    try {
      validateHeaderName(name);
      for (const each of [value ?? ''].flat()) validateHeaderValue(name, each);
    } catch {
      return [`no field: ${what}`];
    }
    if (value === undefined) return [`nothing: ${what}`];
    if (ours.includes(name)) return [];
    if (HOP.includes(name) || nominated.includes(name)) return [`of another hop: ${what}`];
    return ONE.includes(name) && typeof value !== 'string' ? [`twice: ${what}`] : [];
  });
}

const namedBy = (headers: Parsed): readonly string[] =>
  String(headers.connection ?? '')
    .split(',')
    .map((each) => each.trim().toLowerCase());
const OURS = [
  'via',
  'x-request-id',
  'x-tenant',
  'link',
  'warning',
  'vary',
  'sunset',
  'deprecation',
  'x-api-deprecation-info',
];

describe('FWD-3: mutated response fields of an upstream', () => {
  it('the client gets valid fields and those of the gateway, but no hop-by-hop fields', async () => {
    let shown = 0;
    const property = fc.property(status, fields, (code, lines) => {
      const sent = asParsed(lines);
      const nominated = namedBy(sent);
      const cookies = nominated.includes('set-cookie') ? undefined : sent['set-cookie'];
      let written: HeaderLines;
      try {
        written = cleanAnswer(code, sent, upstream);
      } catch (thrown) {
        // SMG-22: the only error, and its message does not name the cause.
        expect(thrown).toBeInstanceOf(Fault);
        return;
      }
      expect(code).toBeGreaterThanOrEqual(200);
      expect(code).toBeLessThan(600);
      finishHead(exchange, code, written, forwarded());
      const headers = written.record();
      shown += 1;
      expect(
        faults(headers, nominated, [...OURS, 'ratelimit', 'ratelimit-policy', 'x-ratelimit-limit']),
      ).toEqual([]);
      expect(headers).toMatchObject({ 'x-tenant': 'acme', sunset: 'Thu, 15 Apr 2027 00:00:00 GMT' });
      expect(headers.via).toMatch(/(?:^|, )1\.1 sundial$/);
      // FWD-5: Set-Cookie lines stay separate.
      expect(headers['set-cookie']).toEqual(cookies);
    });
    await fuzz(property, 1_000);
    expect(shown).toBeGreaterThan(250);
  });

  it('WS-3, WS-5: a 101 is forwarded only if it matches the handshake, with valid fields', async () => {
    let switched = 0;
    const handshake = fc.constantFrom<readonly (readonly [string, string])[]>(
      [
        ['upgrade', 'websocket'],
        ['sec-websocket-accept', ACCEPT],
      ],
      [
        ['upgrade', 'WebSocket'],
        ['sec-websocket-accept', ACCEPT],
      ],
      [
        ['upgrade', 'h2c'],
        ['sec-websocket-accept', ACCEPT],
      ],
      [
        ['upgrade', 'websocket'],
        ['sec-websocket-accept', `${ACCEPT}=`],
      ],
      [['upgrade', 'websocket']],
    );
    // No parser accepts such a value. If one comes, it must not be written.
    const broken = fc.constantFrom(
      ...Array<undefined>(9).fill(undefined),
      'a\r\nX-Canary: 1',
      'a\u0001',
      '\u0000',
    );
    const property = fc.property(handshake, fields, broken, (shake, lines, value) => {
      const answer = new IncomingMessage(new Socket());
      answer.httpVersion = '1.1';
      const all = asParsed([...shake, ...lines.filter(([name]) => name !== 'upgrade')]);
      if (value !== undefined) all['x-broken'] = value;
      Object.assign(answer, { headers: all });
      const nominated = namedBy(all);
      const sound =
        String(all.upgrade).toLowerCase() === 'websocket' && all['sec-websocket-accept'] === ACCEPT;
      try {
        switchedHead(answer, { key: KEY, upstream }, (headers) =>
          decorate(headers, deprecatedFacts(), view(), 'max-age=60'),
        );
      } catch (thrown) {
        if (sound) expect(thrown).toMatchObject({ code: 'ERR_INVALID_CHAR' });
        else expect(thrown).toBeInstanceOf(Fault);
        expect(sound && value === undefined).toBe(false);
        return;
      }
      switched += 1;
      expect(sound).toBe(true);
      const { headers } = answer;
      expect(headers).toMatchObject({
        upgrade: 'websocket',
        connection: 'Upgrade',
        'sec-websocket-accept': ACCEPT,
      });
      const ours = [
        ...OURS,
        'upgrade',
        'connection',
        'sec-websocket-accept',
        'strict-transport-security',
        'x-debug',
      ];
      expect(
        faults(headers, nominated, [...ours, 'ratelimit', 'ratelimit-policy', 'x-ratelimit-limit']),
      ).toEqual([]);
      expect(headers['content-length']).toBeUndefined();
    });
    await fuzz(property, 1_000);
    expect(switched).toBeGreaterThan(100);
  });
});
