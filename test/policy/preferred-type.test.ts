// The preferred of a few offered types: only a type that Accept spells out wins over the first.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { preferredType } from '../../gateway/policy/versioning/accept.ts';

const JSON_TYPE = 'application/json';
const HTML = 'text/html';

describe('the preferred type', () => {
  it.each([
    [undefined, JSON_TYPE],
    ['', JSON_TYPE],
    ['*/*', JSON_TYPE],
    ['text/*', JSON_TYPE],
    [HTML, HTML],
    ['TEXT/HTML', HTML],
    ['text/html;level=1', HTML],
    ['text/html, application/json', JSON_TYPE],
    ['text/html, application/json;q=0.9', HTML],
    ['text/html;q=0.9, application/json', JSON_TYPE],
    ['text/html;q=0', JSON_TYPE],
    ['text/html;q=0.5, */*', JSON_TYPE],
    ['text/html, */*;q=0.8', HTML],
    ['application/xhtml+xml, text/html;q=0.2', HTML],
    ['text/html;=', JSON_TYPE],
    ['x="text/html"', JSON_TYPE],
  ])('NEG-3: for %s is %s', (accept, type) => {
    expect(preferredType(accept, [JSON_TYPE, HTML])).toBe(type);
  });

  it('reads repeated lines as one list', () => {
    expect(preferredType(`application/json;q=0.1, ${HTML}`, [JSON_TYPE, HTML])).toBe(HTML);
  });

  it('is always one of the offered types', () => {
    const noise = fc.stringMatching(/^[a-z*/;=,"q0-9.\\ ]{0,60}$/);
    fc.assert(
      fc.property(noise, noise, (before, after) => {
        expect([JSON_TYPE, HTML]).toContain(preferredType(`${before}text/html${after}`, [JSON_TYPE, HTML]));
      }),
    );
  });
});
