// Tests the lookup of operations by method and path: the most specific wins, for every spelling of a path.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOperationTable } from '../../../gateway/plan/routes/operation-table.ts';
import { formatOperation, parseOperation } from '../../../gateway/policy/lifecycle/operation-template.ts';
import { readingsOf } from '../../../gateway/policy/paths/rules.ts';
import { pathRulesOf } from '../../../gateway/sections/routes/compile.ts';
import { fuzz } from '../../support/fuzz.ts';

function table(...names: readonly string[]) {
  return createOperationTable(
    names.map((name) => {
      const parsed = parseOperation(name);
      if (parsed.kind === 'malformed') throw new Error(parsed.why);
      return { template: parsed.template, rules: formatOperation(parsed.template) };
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

  it('tries the parameter if the literal has no match', () => {
    expect(operations.match('HEAD', '/search')?.rules).toBe('GET /search');
    expect(table('GET /a/b', 'GET /{x}/c').match('GET', '/a/c')?.captures).toEqual(['a']);
  });

  it('two operations for the same requests are an error', () => {
    expect(() => table('GET /{a}', 'GET /{b}')).toThrow(RangeError);
  });

  it('never throws, and captures raw segments', () => {
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

describe('VER-7: a service with case-sensitive and case-insensitive routes', () => {
  const reachedIn = (names: readonly string[], path: string, paths?: 'strict') => {
    const operations = table(...names);
    const readings = readingsOf(path, pathRulesOf(paths)) ?? [];
    return new Set(
      readings.flatMap((each) => operations.reached('GET', each).matches).map(({ rules }) => rules),
    );
  };

  it.each(['/area/LIST', '/Area/LIST', '/Area/list'])('%s may reach the route with the parameter', (path) => {
    const names = ['GET /area/list', 'GET /{x}/list'];
    for (const paths of [undefined, 'strict'] as const)
      expect([...reachedIn(names, path, paths)]).toContain('GET /{x}/list');
  });

  it('a name that matches in another case does not hide a shorter name', () => {
    const names = ['GET /{p}/a', 'GET /{p}/a.b'];
    expect([...reachedIn(names, '/x/A.b')]).toEqual(expect.arrayContaining(names));
    expect([...reachedIn(names, '/x/a.b')]).toEqual(['GET /{p}/a.b']);
  });

  it('a path with exact case reaches the literal only', () => {
    const names = ['GET /Area/list', 'GET /{x}/list', 'GET /Area/{y}', 'GET /a/b.C', 'GET /a/{z}'];
    expect([...reachedIn(names, '/Area/list')]).toEqual(['GET /Area/list']);
    expect([...reachedIn(names, '/a/b.C')]).toEqual(['GET /a/b.C']);
    expect([...reachedIn(['GET /a', 'GET /A', 'GET /{x}'], '/A')]).toEqual(['GET /A', 'GET /a']);
  });

  it('every route that such a service may choose is judged', async () => {
    const segment = fc.constantFrom('a', 'A', 'b', '{p}');
    const route = fc.record({
      segments: fc.array(segment, { minLength: 1, maxLength: 3 }),
      tellsCase: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    });
    const routes = fc.uniqueArray(route, { minLength: 1, maxLength: 6, selector: nameOf });
    const path = fc.array(fc.constantFrom('a', 'A', 'b', 'B', 'c'), { minLength: 1, maxLength: 3 });
    const property = fc.property(routes, path, (drawn, segments) => {
      const sorted = drawn.toSorted((one, other) => particularity(one).localeCompare(particularity(other)));
      const chosen = sorted.find(
        (each) =>
          each.segments.length === segments.length &&
          each.segments.every((text, index) => {
            const sent = segments[index] ?? '';
            return (
              text === '{p}' ||
              (each.tellsCase[index] ? text === sent : text.toLowerCase() === sent.toLowerCase())
            );
          }),
      );
      if (chosen === undefined) return;
      expect([...reachedIn(drawn.map(nameOf), `/${segments.join('/')}`)]).toContain(nameOf(chosen));
    });
    await fuzz(property, 2_000);
  });
});

const nameOf = ({ segments }: { readonly segments: readonly string[] }): string =>
  `GET /${segments.map((text, index) => (text === '{p}' ? `{p${index}}` : text)).join('/')}`;

/** Literals before parameters, the earliest segment first. */
const particularity = ({ segments }: { readonly segments: readonly string[] }): string =>
  segments.map((text) => (text === '{p}' ? '1' : '0')).join('');
