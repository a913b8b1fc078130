// Holding a body: the client gets the same bytes for any split into chunks, edited or unchanged.
import { EventEmitter } from 'node:events';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnswerHeaders, HeaderLines } from '../../gateway/exchange/answer-headers.ts';
import { createNotice } from '../../gateway/policy/body-notice/notice.ts';
import { decode, holdBody, MAX_HELD } from '../../gateway/upstream/bodies/held-body.ts';

const MAX = 1024 * 1024;
const notice = createNotice({
  sunset: Date.UTC(2026, 5, 1),
  replacement: undefined,
  guide: undefined,
  reason: undefined,
});

interface Delivered {
  readonly calls: readonly string[];
  readonly body: Buffer;
  readonly headers: AnswerHeaders | undefined;
  readonly outcomes: readonly string[];
  /** The result of each write. */
  readonly flows: readonly boolean[];
  /** Bytes allocated for each written chunk. */
  readonly rooms: readonly number[];
  /** Bytes counted as held before the end of the call, after it, and after the client has closed. */
  readonly stillHeld: number;
  readonly heldUntaken: number;
  readonly heldAtLast: number;
}

function deliver(
  chunks: readonly Buffer[],
  lines: AnswerHeaders = {},
  { drains = true, ends = true, most = MAX_HELD } = {},
): Delivered {
  const heldBodies = { held: 0, most };
  const res = new EventEmitter();
  const calls: string[] = [];
  const written: Buffer[] = [];
  const outcomes: string[] = [];
  let headers: AnswerHeaders | undefined;
  const delivery = holdBody({
    notice,
    method: 'GET',
    onOutcome: (outcome) => outcomes.push(outcome),
    delivery: {
      head: (_status, given) => {
        calls.push('head');
        headers = given.record();
      },
      write: (chunk) => {
        calls.push('data');
        written.push(chunk);
        return drains;
      },
      end: () => calls.push('end'),
      discard: () => undefined,
    },
    heldBodies,
    inbound: { gone: false, onClosed: (listener) => void res.once('close', listener) },
  });
  delivery.head(200, new HeaderLines({ 'content-type': 'application/json', ...lines }));
  const flows = chunks.map(delivery.write);
  if (ends) delivery.end();
  const stillHeld = heldBodies.held;
  delivery.discard?.();
  const heldUntaken = heldBodies.held;
  res.emit('close');
  const rooms = written.map(({ buffer }) => buffer.byteLength);
  return {
    calls,
    body: Buffer.concat(written),
    headers,
    outcomes,
    flows,
    rooms,
    stillHeld,
    heldUntaken,
    heldAtLast: heldBodies.held,
  };
}

function cut(body: Buffer, places: readonly number[]): readonly Buffer[] {
  const at = [0, ...places.map((place) => place % (body.length + 1)), body.length].sort((a, b) => a - b);
  return at.slice(1).map((end, index) => body.subarray(at[index], end));
}

describe('the memory for held bodies', () => {
  const body = Buffer.from(JSON.stringify({ a: 'x'.repeat(1_000) }));
  const halves = [body.subarray(0, 500), body.subarray(500)];

  it('is released once the client has read a body, or the call has failed', () => {
    const given = deliver(halves);
    const { length } = given.body;
    expect(given).toMatchObject({
      outcomes: ['added'],
      stillHeld: length,
      heldUntaken: length,
      heldAtLast: 0,
    });
    const broken = deliver(halves.slice(0, 1), {}, { ends: false });
    expect(broken).toMatchObject({ outcomes: [], stillHeld: 500, heldUntaken: 0, heldAtLast: 0 });
  });

  it('has a limit, and a body beyond the limit is sent unchanged', () => {
    const beyond = deliver(halves, {}, { most: 600 });
    expect(beyond).toMatchObject({ outcomes: ['too_large'], stillHeld: body.length, heldAtLast: 0 });
    expect(beyond.body.equals(body)).toBe(true);
  });
});

describe('a held body', () => {
  it('BODY-2: is the same for any split into chunks', () => {
    const members = fc.dictionary(
      fc.string().filter((name) => name !== '_deprecation'),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(members, fc.array(fc.nat()), fc.boolean(), (value, places, coded) => {
        const body = Buffer.from(JSON.stringify(value));
        const sent = coded ? gzipSync(body) : body;
        const delivered = deliver(cut(sent, places), coded ? { 'content-encoding': 'gzip' } : {});
        const comma = Object.keys(value).length === 0 ? '' : ',';
        expect(delivered.body.toString()).toBe(`{${notice.member}${comma}${body.subarray(1)}`);
        expect(delivered.headers).toEqual({
          'content-type': 'application/json',
          'content-length': String(delivered.body.length),
        });
        expect(delivered.calls).toEqual(['head', 'data', 'end']);
        expect(delivered.outcomes).toEqual(['added']);
      }),
    );
  });

  it('BODY-1: is unchanged byte for byte if it is not JSON, for any split into chunks', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.array(fc.nat()), (bytes, places) => {
        const body = Buffer.from([0x5b, ...bytes]);
        const delivered = deliver(cut(body, places), { 'content-length': String(body.length) });
        expect(delivered.body.equals(body)).toBe(true);
        expect(delivered.headers).toEqual({
          'content-type': 'application/json',
          'content-length': String(body.length),
        });
        expect(delivered.outcomes).toEqual(['not_object']);
      }),
    );
  });

  it('BODY-1: uses no more memory than the limit, even with tiny chunks', () => {
    const pieces = Array.from({ length: 900 }, () => Buffer.alloc(1024, '['));
    const { body, rooms } = deliver(pieces);
    expect(body.equals(Buffer.alloc(900 * 1024, '['))).toBe(true);
    expect(rooms).toEqual([MAX]);
  });

  it('FWD-17: is not sent if it never ends', () => {
    const delivered = deliver([Buffer.from('{"a":1')], {}, { ends: false });
    expect(delivered).toMatchObject({ calls: [], outcomes: [] });
  });

  it('sends no data if it is empty', () => {
    expect(deliver([]).calls).toEqual(['head', 'end']);
  });
});

describe('a body over the limit', () => {
  const chunk = Buffer.alloc(MAX / 2, 'x');

  it.each([true, false])(
    'BODY-1: is streamed from the held bytes on, at the pace of the client (drains: %s)',
    (drains) => {
      const chunks = [chunk, chunk, Buffer.from('y'), chunk];
      const delivered = deliver(chunks, {}, { drains });
      expect(delivered.flows).toEqual([true, true, drains, drains]);
      expect(delivered.calls).toEqual(['head', 'data', 'data', 'end']);
      expect(delivered.body.equals(Buffer.concat(chunks))).toBe(true);
      expect(delivered.outcomes).toEqual(['too_large']);
    },
  );

  it('BODY-1: has one byte more than 1 MiB', () => {
    const object = (length: number) => Buffer.from(`{"a":"${'x'.repeat(length - 8)}"}`);
    expect(deliver([object(MAX)]).outcomes).toEqual(['added']);
    expect(deliver([object(MAX + 1)]).outcomes).toEqual(['too_large']);
  });

  it('BODY-3: is sent unchanged if it exceeds the limit only after decoding', () => {
    const coded = gzipSync(Buffer.from(`{"a":"${'x'.repeat(MAX)}"}`));
    const delivered = deliver([coded], { 'content-encoding': 'gzip' });
    expect(delivered.outcomes).toEqual(['coding']);
    expect(delivered.body.equals(coded)).toBe(true);
    expect(delivered.headers).toMatchObject({ 'content-encoding': 'gzip' });
  });
});

it.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const)('BODY-3: decoding %s rejects partial bodies and trailing bytes', (coding, encode) => {
  const coded = encode(Buffer.from('{"a":1}'));
  expect(String(decode(coded, coding, MAX))).toBe('{"a":1}');
  for (let length = 0; length < coded.length; length += 1)
    expect(decode(coded.subarray(0, length), coding, MAX), `${length} bytes`).toBeUndefined();
  for (const more of ['x', '{"b":2}', '\0\0'])
    expect(decode(Buffer.concat([coded, Buffer.from(more)]), coding, MAX), more).toBeUndefined();
});

it('BODY-3: decoding stops at the limit, and at invalid input', () => {
  const bomb = gzipSync(Buffer.alloc(100 * MAX));
  expect(decode(bomb, 'gzip', MAX)).toBeUndefined();
  for (const coding of ['gzip', 'deflate', 'br', 'zstd'] as const)
    expect(decode(Buffer.from('{"a":1}'), coding, MAX)).toBeUndefined();
});
