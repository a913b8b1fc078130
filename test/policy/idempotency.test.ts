// Idempotency keys without a gateway: parsing, scope, fingerprint and kept responses.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordFields } from '../../gateway/exchange/request-view.ts';
import {
  fingerprintOf,
  type KeyScope,
  readIdempotencyKey,
  storageKey,
} from '../../gateway/policy/idempotency/key.ts';
import { retentionOf, storedHeaders } from '../../gateway/policy/idempotency/rules.ts';
import { idempotencyOf } from '../../gateway/sections/idempotency/compile.ts';
import { idempotencySection } from '../../gateway/sections/idempotency/grammar.ts';

const read = (field: string | readonly string[] | undefined) => {
  const found = readIdempotencyKey(new RecordFields({ 'idempotency-key': field }));
  return found.kind === 'key' ? found.key : found.kind;
};

describe('the key', () => {
  it.each([
    [undefined, 'none'],
    ['"8e03978e-40d5-43e8-bc93-6894a57f9324"', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['8e03978e-40d5-43e8-bc93-6894a57f9324', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['Az09._~:-', 'Az09._~:-'],
    ['"a b, c"', 'a b, c'],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['"a";v=1; w', 'a'],
    ['"a";v="b c";w=1', 'a'],
    ['"a";v="b', 'malformed'],
    ['k'.repeat(255), 'k'.repeat(255)],
    [`"${'k'.repeat(255)}"`, 'k'.repeat(255)],
    ['k'.repeat(256), 'malformed'],
    [`"${'k'.repeat(256)}"`, 'malformed'],
    ['', 'malformed'],
    ['""', 'malformed'],
    ['"', 'malformed'],
    ['"a', 'malformed'],
    ['a"', 'malformed'],
    ['"a" b', 'malformed'],
    ['"a\\b"', 'malformed'],
    ['a b', 'malformed'],
    ['a, b', 'malformed'],
    ['"a", "b"', 'malformed'],
    ['a/b', 'malformed'],
    ['m\u00fcller', 'malformed'],
    ['"m\u00fcller"', 'malformed'],
    ['"a\tb"', 'malformed'],
    ['a\u0000', 'malformed'],
    [['a', 'b'], 'malformed'],
  ])('IDM-1: %j is %s', (field, key) => {
    expect(read(field)).toBe(key);
  });

  it('IDM-1: quotes make no difference for keys that are valid without them', () => {
    const bare = fc.stringMatching(/^[A-Za-z0-9._~:-]{1,255}$/);
    fc.assert(fc.property(bare, (key) => read(key) === key && read(`"${key}"`) === key));
  });
});

describe('the scope of a key', () => {
  const scope: KeyScope = {
    ...{ api: 'orders', version: 'v1', method: 'POST', target: '/7?x=1', clientAddress: '192.0.2.1' },
    consumer: { id: 'acme', claims: { iss: 'https://a', sub: 'user' } },
    key: 'k',
  };
  const { consumer } = scope;

  it.each<[string, Partial<KeyScope>]>([
    ['api', { api: 'payments' }],
    ['version', { version: 'v2' }],
    ['method', { method: 'PUT' }],
    ['path', { target: '/8?x=1' }],
    ['query', { target: '/7?x=2' }],
    ['consumer', { consumer: { id: 'other', claims: consumer?.claims ?? {} } }],
    ['user of one application', { consumer: { id: 'acme', claims: { iss: 'https://a', sub: 'other' } } }],
    ['issuer', { consumer: { id: 'acme', claims: { iss: 'https://b', sub: 'user' } } }],
    ['identity, such as none,', { consumer: undefined }],
    ['key', { key: 'K' }],
  ])('IDM-4: another %s gives another key', (_what, changes) => {
    expect(storageKey({ ...scope, ...changes })).not.toBe(storageKey(scope));
  });

  it('IDM-4: separates the users of one application by any claim that names them', () => {
    const keys = [
      {},
      { sub: 1 },
      { sub: 2 },
      { sub: ['a'] },
      { username: 'a' },
      { username: 'b' },
      { sub: 'a' },
    ].map((claims) => storageKey({ ...scope, consumer: { id: 'acme', claims } }));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('IDM-4: is the same for a consumer at any address, and no address equals a consumer', () => {
    expect(storageKey({ ...scope, clientAddress: '192.0.2.2' })).toBe(storageKey(scope));
    const anonymous = { ...scope, consumer: undefined };
    expect(storageKey({ ...anonymous, clientAddress: '192.0.2.2' })).not.toBe(storageKey(anonymous));
    const posing = { ...scope, consumer: { id: '192.0.2.1', claims: {} } };
    expect(storageKey(posing)).not.toBe(storageKey(anonymous));
  });

  it('the store gets only a digest', () => {
    expect(storageKey(scope)).toMatch(/^[\w-]{43}$/);
  });
});

describe('the fingerprint', () => {
  const bytes = (text: string) => Buffer.from(text);
  it.each([
    ['application/json', '{"a":1}', true],
    ['application/json', '{"a": 1}', false],
    ['application/json; charset=utf-8', '{"a":1}', false],
    ['', 'application/json\n{"a":1}', false],
    ['application/json', '', false],
  ])('IDM-4: %s %j is the same payload: %s', (type, body, same) => {
    const first = fingerprintOf('application/json', bytes('{"a":1}'));
    expect(fingerprintOf(type, bytes(body)) === first).toBe(same);
  });
});

describe('the kept response', () => {
  const rules = { serverErrors: 'release', maxAnswer: 100 } as const;
  it.each([
    [200, {}, 'store'],
    [204, {}, 'store'],
    [301, {}, 'store'],
    [404, {}, 'store'],
    [410, {}, 'store'],
    [422, {}, 'store'],
    ...[401, 403, 408, 409, 425, 429, 500, 502, 503].map((status) => [status, {}, 'release'] as const),
    [200, { 'content-length': '100' }, 'store'],
    [200, { 'content-length': '101' }, 'unstorable'],
    [500, { 'content-length': '101' }, 'release'],
    [200, { 'content-type': 'text/event-stream; charset=utf-8' }, 'unstorable'],
    [200, { 'content-type': 'application/x-ndjson' }, 'unstorable'],
    [200, { 'content-type': 'application/json' }, 'store'],
  ] as const)('IDM-6, IDM-7: %i with %j: %s', (status, headers, keeping) => {
    expect(retentionOf(rules, status, headers)).toBe(keeping);
  });

  it('IDM-6: includes a 5xx with `replay`', () => {
    expect(retentionOf({ ...rules, serverErrors: 'replay' }, 500, {})).toBe('store');
  });

  it('IDM-3, IDM-7: has no volatile header, no cookie, and is a copy', () => {
    const link = ['<a>', '<b>'];
    const headers = {
      ...{ 'set-cookie': ['a=b'], date: 'x', age: '1', 'content-length': '2', ratelimit: 'x', link },
      ...{ 'x-ratelimit-remaining': '1', 'content-type': 'a/b', location: '/7', gone: undefined },
      ...{ 'ratelimit-limit': '3', 'ratelimit-remaining': '1', 'ratelimit-reset': '2' },
    };
    expect(storedHeaders(headers)).toEqual({ link, 'content-type': 'a/b', location: '/7' });
  });
});

describe('the sections', () => {
  const whole = idempotencySection.parse({ keep: '1h', methods: ['PUT'] });

  it('IDM-2, IDM-5: have their defaults', () => {
    expect(idempotencyOf([undefined, {}])).toEqual({
      ...{ methods: new Set(['POST', 'PUT']), required: false, keepMs: 86_400_000, unknown: 'hold' },
      ...{ serverErrors: 'release', anonymous: 'refuse', maxBody: 1_048_576, maxAnswer: 1_048_576 },
    });
  });

  it.each([
    ['no section means no keys', [undefined, undefined], undefined],
    ['the outer section applies', [undefined, whole], { keepMs: 3_600_000, required: false }],
    [
      'the nearer section overrides the outer one',
      [{ required: true, keep: 1000 }, whole],
      { keepMs: 1000, required: true },
    ],
    ['off in the nearer section means no keys', ['off', whole], undefined],
    [
      'off in between stops the inheritance',
      [{ required: true }, 'off', whole],
      { keepMs: 86_400_000, required: true },
    ],
  ] as const)('%s', (_what, nearestFirst, rules) => {
    const found = idempotencyOf(nearestFirst);
    if (rules === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(rules);
  });

  it.each([
    { methods: ['GET'] },
    { methods: [] },
    { keep: '500ms' },
    { max_body: '17MB' },
    { unknown: 'retry' },
    { header: 'X-Key' },
  ])('refuse %j', (written) => {
    expect(idempotencySection.safeParse(written).success).toBe(false);
  });
});
