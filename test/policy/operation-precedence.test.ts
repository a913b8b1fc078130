// Which of two matching operations gets a request: by template alone, as the operation table decides.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOperationTable } from '../../gateway/plan/routes/operation-table.ts';
import {
  type OperationTemplate,
  parseOperation,
  sameRequests,
  takesRequestsOf,
} from '../../gateway/policy/lifecycle/operation-template.ts';

function template(text: string): OperationTemplate {
  const parsed = parseOperation(text);
  if (parsed.kind === 'malformed') throw new Error(parsed.why);
  return parsed.template;
}

describe('one operation takes requests of another', () => {
  it.each([
    ['GET /search', 'GET /{id}', true],
    ['GET /{id}', 'GET /search', false],
    ['GET /search', '* /{id}', true],
    ['GET /search', '* /search', true],
    ['HEAD /search', 'GET /search', true],
    ['GET /search', 'HEAD /search', false],
    ['GET /search', 'HEAD /{id}', true],
    ['GET /{id}', 'HEAD /search', false],
    ['GET /a/{x}', 'GET /{y}/b', true],
    ['GET /{y}/b', 'GET /a/{x}', false],
    ['POST /search', 'GET /{id}', false],
    ['GET /a/{x}', 'GET /{y}', false],
  ])('%s, %s: %s', (a, b, expected) => {
    expect(takesRequestsOf(template(a), template(b))).toBe(expected);
  });

  it('exactly if the operation table with both gives another result than with the other alone', () => {
    const words = ['a', 'b'];
    const methods = ['GET', 'HEAD', 'POST'];
    const segment = fc.constantFrom(...words, '{x}');
    const name = fc
      .tuple(fc.constantFrom('GET', 'HEAD', 'POST', '*'), fc.array(segment, { maxLength: 3 }))
      .map(([method, path]) => {
        const named = path.map((each, index) => (each === '{x}' ? `{x${index}}` : each));
        return template(`${method} /${named.join('/')}`);
      });
    // One word that is in no template, so that only a parameter matches it.
    const tails = (length: number): readonly string[] =>
      length === 0
        ? ['']
        : tails(length - 1).flatMap((tail) => [...words, 'c'].map((each) => `${tail}/${each}`));
    fc.assert(
      fc.property(name, name, (a, b) => {
        fc.pre(!sameRequests(a, b));
        const alone = createOperationTable([{ template: b, rules: 'b' }]);
        const both = createOperationTable([
          { template: a, rules: 'a' },
          { template: b, rules: 'b' },
        ]);
        const taken = methods.some((method) =>
          tails(b.segments.length).some(
            (tail) => alone.match(method, tail) !== undefined && both.match(method, tail)?.rules === 'a',
          ),
        );
        expect(takesRequestsOf(a, b)).toBe(taken);
      }),
      { numRuns: 500 },
    );
  });
});
