// Operation templates: parsing, comparison, and filling in captured segments.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fillTail,
  formatOperation,
  type OperationTemplate,
  parametersOf,
  parseOperation,
  parseOperationSuccessor,
  sameRequests,
  tailParts,
} from '../../gateway/policy/lifecycle/operation-template.ts';

function template(text: string): OperationTemplate {
  const parsed = parseOperation(text);
  if (parsed.kind === 'malformed') throw new Error(parsed.why);
  return parsed.template;
}

describe('the name of an operation', () => {
  it.each([
    'GET /',
    '* /',
    'GET /search',
    'POST /items/{id}',
    'DELETE /a.b/~c/{item_id}/x%20y',
    'OPTIONS /:sub',
  ])('%s is parsed and spelled back', (text) => {
    expect(formatOperation(template(text))).toBe(text);
  });

  it.each<[string, string]>([
    ['', 'an operation needs a method and a path'],
    ['GET', 'an operation needs a method and a path'],
    ['GET search', 'an operation needs a method and a path'],
    ['GET  /search', 'an operation needs a method and a path'],
    ['GET /a b', 'an operation needs a method and a path'],
    ['get /search', 'get is not a method'],
    ['FETCH /search', 'FETCH is not a method'],
    ['GET /search/', 'the segment "" is neither plain text of at most 150 characters nor one {parameter}'],
    ['GET //search', '"" is neither'],
    ['GET /../x', '".." is neither'],
    ['GET /{id}x', '"{id}x" is neither'],
    ['GET /x%2f', '"x%2f" is neither'],
    ['GET /s%65arch', '"s%65arch" is neither'],
    ['GET /x?y', '"x?y" is neither'],
    ['GET /{id}/{id}', '{id} occurs twice in one path'],
  ])('%j is refused: %s', (text, why) => {
    expect(parseOperation(text)).toMatchObject({ kind: 'malformed', why: expect.stringContaining(why) });
  });

  it('matches the same requests with other parameter names', () => {
    expect(sameRequests(template('GET /{a}/x'), template('GET /{b}/x'))).toBe(true);
    expect(sameRequests(template('GET /{a}/x'), template('PUT /{a}/x'))).toBe(false);
    expect(sameRequests(template('GET /{a}/x'), template('GET /{a}/{x}'))).toBe(false);
  });
});

describe('the successor of an operation', () => {
  it.each<[string, string | undefined, string | undefined]>([
    ['v3', 'v3', undefined],
    ['GET /', undefined, 'GET /'],
    ['v3 GET /items/{id}', 'v3', 'GET /items/{id}'],
  ])('%s names version %s and operation %s', (text, label, operation) => {
    const successor = parseOperationSuccessor(text);
    expect(successor?.label).toBe(label);
    expect(successor?.template && formatOperation(successor.template)).toBe(operation);
  });

  it.each(['', '/search', 'v3 /search', 'v3 v4 GET /', 'GET search', 'v3  GET /', 'https://x.example/'])(
    '%j is not a successor',
    (text) => {
      expect(parseOperationSuccessor(text)).toBeUndefined();
    },
  );
});

describe('filling in a template', () => {
  it('LNK-2: inserts captured segments by name with their encoding', () => {
    const parts = tailParts(template('GET /of/{customer}/{id}'), template('GET /{id}/by/{customer}'));
    expect(fillTail(parts, ['a%20b', '7%2F8'])).toBe('/7%2F8/by/a%20b');
  });

  it('LNK-2: the root is the base itself', () => {
    expect(fillTail(tailParts(template('GET /search'), template('GET /')), [])).toBe('');
  });

  it('throws for a parameter that is not captured', () => {
    expect(() => tailParts(template('GET /{a}'), template('GET /{b}'))).toThrow(RangeError);
  });

  it('LNK-2: a template filled with its own captures gives the original path', () => {
    const word = fc.stringMatching(/^[a-z0-9~-]{1,6}$/);
    const segment = fc.record({ parameter: fc.boolean(), text: word });
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 5 }), (segments) => {
        const path = segments
          .map(({ parameter, text }, index) => (parameter ? `{p${index}}` : text))
          .join('/');
        const own = template(`GET /${path}`);
        const captures = segments.filter(({ parameter }) => parameter).map(({ text }) => text);
        const tail = segments.map(({ text }) => `/${text}`).join('');
        expect(fillTail(tailParts(own, own), captures)).toBe(tail);
        expect(parametersOf(own)).toHaveLength(captures.length);
      }),
    );
  });
});
