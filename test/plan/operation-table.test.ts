// From method and tail to an operation: what is more particular wins, and no spelling of a path gets around it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOperationTable } from '../../gateway/plan/operation-table.ts';
import { parseOperation, spellOperation } from '../../gateway/policy/lifecycle/operation-template.ts';

function table(...names: readonly string[]) {
  return createOperationTable(
    names.map((name) => {
      const parsed = parseOperation(name);
      if (parsed.kind === 'malformed') throw new Error(parsed.why);
      return { template: parsed.template, rules: spellOperation(parsed.template) };
    }),
  );
}

describe('an operation table', () => {
  const operations = table(
    'GET /',
    'GET /search',
    'GET /{id}',
    'HEAD /{id}',
    '* /{id}/items',
    'PUT /{id}/items',
    'GET /search/{word}/by/{author}',
    'GET /{id}/{part}/by/me',
  );

  it.each<[string, string, string | undefined, string[]]>([
    ['GET', '', 'GET /', []],
    ['GET', '/', 'GET /', []],
    ['GET', '/search', 'GET /search', []],
    ['GET', '/search/', 'GET /search', []],
    ['GET', '//search', 'GET /search', []],
    ['HEAD', '/search', 'GET /search', []],
    ['POST', '/search', undefined, []],
    ['GET', '/Search', 'GET /{id}', ['Search']],
    ['GET', '/a%2Fb', 'GET /{id}', ['a%2Fb']],
    ['HEAD', '/7', 'HEAD /{id}', ['7']],
    ['DELETE', '/7/items', '* /{id}/items', ['7']],
    ['PUT', '/7/items', 'PUT /{id}/items', ['7']],
    ['GET', '/search/x/by/me', 'GET /search/{word}/by/{author}', ['x', 'me']],
    ['GET', '/other/x/by/me', 'GET /{id}/{part}/by/me', ['other', 'x']],
    ['GET', '/7/items/8', undefined, []],
  ])('%s %j is %s', (method, tail, expected, captures) => {
    const match = operations.match(method, tail);
    expect(match?.rules).toBe(expected);
    if (match !== undefined) expect(match.captures).toEqual(captures);
  });

  it('tries the parameter where the literal leads nowhere', () => {
    expect(operations.match('HEAD', '/search')?.rules).toBe('GET /search');
    expect(table('GET /a/b', 'GET /{x}/c').match('GET', '/a/c')?.captures).toEqual(['a']);
  });

  it('two operations for the same requests are a mistake', () => {
    expect(() => table('GET /{a}', 'GET /{b}')).toThrow(RangeError);
  });

  it('never throws, and captures segments as they are', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (method, tail) => {
        for (const capture of operations.match(method, tail)?.captures ?? []) {
          expect(tail).toContain(capture);
          expect(capture).not.toContain('/');
        }
      }),
    );
  });
});
