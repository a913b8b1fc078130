// The response head: cached lines equal lines that are not cached.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HeaderLines } from '../../gateway/exchange/answer-headers.ts';
import { headText } from '../../gateway/plane/answer-text.ts';
import { samples } from '../support/fuzz.ts';

const DATE = 'Mon, 01 Jun 2026 00:00:00 GMT';
const value = fc.constantFrom('', 'a', 'b', 'text/html', 'x'.repeat(600), ['1', '2'] as const);
const answer = fc.dictionary(fc.constantFrom('x-a', 'x-b', 'content-type', 'set-cookie', 'date'), value);

it('FWD-5: every line has the value of its response, not of an earlier one', () => {
  const { seed, drawn } = samples(answer, 4_000);
  for (const fields of drawn) {
    const lines = Object.entries(fields).flatMap(([name, each]) =>
      [each].flat().map((one) => `${name}: ${one}\r\n`),
    );
    const dated = 'date' in fields ? lines : [...lines, `date: ${DATE}\r\n`];
    const text = headText(200, new HeaderLines(fields), DATE);
    expect(text, `seed ${seed}`).toBe(`HTTP/1.1 200 OK\r\n${dated.join('')}`);
  }
});

it('refuses a value with a line break, even if an earlier value of that name was valid', () => {
  const write = (each: string): string => headText(200, new HeaderLines({ 'x-split': each }), DATE);
  for (let count = 0; count < 3; count += 1) write('fine');
  expect(() => write('a\r\nx-stolen: 1')).toThrow('cannot be written');
});
