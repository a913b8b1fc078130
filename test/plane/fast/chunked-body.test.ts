// The decoder of chunked bodies accepts, decodes and refuses exactly what Node's parser does.
import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChunkedBody, ChunkedBodyError } from '../../../gateway/plane/fast/chunked-body.ts';
import { FUZZ_TIMEOUT_MS, fuzz } from '../../support/fuzz.ts';
import { mutated } from '../../support/mutated-bytes.ts';
import { createBytesParser } from '../../support/parsed-request.ts';

const MAX = { extensions: 16 * 1_024, trailers: 16 * 1_024 };
const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';

interface Read {
  readonly content: string;
  readonly end: 'whole' | 'more' | ChunkedBodyError['kind'];
}

/** Decodes `text`, split at the offsets `cuts`. */
function read(text: string, cuts: readonly number[] = []): Read {
  const bytes = Buffer.from(text, 'latin1');
  const body = new ChunkedBody(MAX);
  let content = '';
  try {
    const places = [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
    let from = 0;
    for (const to of places) {
      const end = body.read(bytes, from, to, (start, stop) => {
        content += bytes.toString('latin1', start, stop);
      });
      if (end >= 0) return { content, end: 'whole' };
      from = to;
    }
    return { content, end: 'more' };
  } catch (error) {
    if (!(error instanceof ChunkedBodyError)) throw error;
    return { content, end: error.kind };
  }
}

const parser = createBytesParser();

async function readByNode(text: string): Promise<Read> {
  const [raw] = await parser.parse(HEAD + text);
  if (raw === undefined) throw new Error('the head was refused');
  return { content: contentOf(raw), end: raw.complete ? 'whole' : 'more' };
}

function contentOf(raw: IncomingMessage): string {
  let content = '';
  for (let chunk: Buffer | null = raw.read(); chunk !== null; chunk = raw.read())
    content += chunk.toString('latin1');
  return content;
}

const chunk = fc
  .record({
    data: fc.string({ minLength: 1, maxLength: 20 }).map((text) => text.replace(/[^\x20-\x7e]/g, 'x')),
    zeros: fc.constantFrom('', '0', '000'),
    extension: fc.constantFrom(
      '',
      ';a',
      ';a=b',
      ';a="b;c\\"d"',
      ';;',
      ';=',
      ';a=;b',
      ' ;a',
      ';a =b',
      ';a="\t"',
    ),
    upper: fc.boolean(),
  })
  .map(({ data, zeros, extension, upper }) => {
    const size = data.length.toString(16);
    return `${zeros}${upper ? size.toUpperCase() : size}${extension}\r\n${data}\r\n`;
  });
const whole = fc
  .tuple(
    fc.array(chunk, { maxLength: 4 }),
    fc.constantFrom('', 'X-A: 1\r\n', 'X-A:\r\nX-B: \u00e4\r\n', 'X-A : 1\r\n', 'X-A: 1\r\n 2\r\n'),
  )
  .map(([chunks, trailers]) => `${chunks.join('')}0\r\n${trailers}\r\n`);

describe('SMG-12, SMG-13: a chunked body', () => {
  it('is complete exactly when Node’s parser says so, with the same content', {
    timeout: FUZZ_TIMEOUT_MS,
  }, async () => {
    await fuzz(
      fc.asyncProperty(mutated(whole, 2), fc.array(fc.nat(), { maxLength: 3 }), async (text, cuts) => {
        const found = read(text, cuts);
        const expected = await readByNode(text);
        expect(found.end === 'whole').toBe(expected.end === 'whole');
        if (found.end === 'whole') expect(found.content).toBe(expected.content);
      }),
      4_000,
    );
  });

  it('is decoded the same way wherever it is split', () => {
    const text = '5;a="b\\"c"\r\nhello\r\n00A\r\n0123456789\r\n0;x\r\nX-A: 1\r\n\r\nGET';
    for (let cut = 0; cut <= text.length; cut += 1)
      for (let other = cut; other <= text.length; other += 7)
        expect(read(text, [cut, other])).toEqual({ content: 'hello0123456789', end: 'whole' });
  });

  it.each([
    ['no size', '\r\n'],
    ['a sign', '+5\r\nhello\r\n0\r\n\r\n'],
    ['0x', '0x5\r\nhello\r\n0\r\n\r\n'],
    ['an underscore', '1_0\r\n'],
    ['a size that is too large', 'FFFFFFFFFFFFFFFF\r\n'],
    ['a bare LF after the size', '5\nhello\r\n0\r\n\r\n'],
    ['a bare LF after the content', '5\r\nhello\n0\r\n\r\n'],
    ['more content than its size', '5\r\nhello!\r\n0\r\n\r\n'],
    ['a space after the size', '5 \r\nhello\r\n0\r\n\r\n'],
    ['a trailer without a name', '0\r\n: 1\r\n\r\n'],
    ['a folded trailer', '0\r\nX-A: 1\r\n 2\r\n\r\n'],
    ['a quote without end', `5;a="${'b'.repeat(10)}\r\n`],
  ])('is malformed: %s', (_what, text) => {
    expect(read(text).end).toBe('malformed');
  });

  it('SMG-12: may have extensions and trailers up to a bound', () => {
    expect(read(`5;${'a'.repeat(MAX.extensions + 1)}`).end).toBe('extensions_too_large');
    expect(read(`0\r\nX-A: ${'a'.repeat(MAX.trailers + 1)}`).end).toBe('trailers_too_large');
  });

  it('has separate counts of framing and content', () => {
    const body = new ChunkedBody(MAX);
    const bytes = Buffer.from('5\r\nhello\r\n0\r\n\r\n');
    body.read(bytes, 0, bytes.length, () => undefined);
    expect(body).toMatchObject({ content: 5, framing: 10 });
  });
});
