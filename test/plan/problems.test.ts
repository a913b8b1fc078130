// Tests how problems are printed in a terminal, and what is never printed.
import { describe, expect, it } from 'vitest';
import { type Problem, renderProblems, sortProblems } from '../../gateway/plan/problems.ts';
import { threadMs } from '../support/thread-time.ts';
import { workspace } from './workspace.ts';

const problem = (more: Partial<Problem> = {}): Problem => ({
  file: 'policies/a.yaml',
  line: 5,
  column: 9,
  severity: 'error',
  rule: 'test',
  message: 'unknown key "upstreem"',
  hint: 'did you mean "upstream"?',
  source: { text: '        upstreem: x', length: 8 },
  ...more,
});

describe('a problem', () => {
  it('has position, message, source line, carets and hint', () =>
    expect(
      renderProblems([problem()], { colour: false }),
    ).toBe(`policies/a.yaml:5:9: error: unknown key "upstreem"
     5 |         upstreem: x
       |         ^^^^^^^^ did you mean "upstream"?
`));

  it('has a file name that forges no line of output', async () => {
    const name = 'policies/a\n::error::forged\u001b[31m.yaml';
    await using files = await workspace({ [name]: 'api: 7\n' });
    const { problems } = await files.load();
    expect(new Set(problems.map(({ file }) => file))).toEqual(
      new Set(['policies/a?::error::forged?[31m.yaml']),
    );
  });

  it('keeps its carets in place in a very long line', () => {
    const text = `a: ${'x'.repeat(5_000)} HERE ${'y'.repeat(5_000)}`;
    const rendered = renderProblems(
      [problem({ column: text.indexOf('HERE') + 1, source: { text, length: 4 } })],
      { colour: false },
    );
    const [, line = '', carets = ''] = rendered.split('\n');
    expect(line.slice(carets.indexOf('^'), carets.indexOf('^') + 4)).toBe('HERE');
    expect(line.length).toBeLessThan(200);
  });

  it('comes before every warning if there is no space for all', () => {
    const warnings = Array.from({ length: 500 }, (_, line) => problem({ line, severity: 'warning' }));
    const error = problem({ file: 'policies/z.yaml', message: 'the only error' });
    const rendered = renderProblems([...warnings, error], { colour: false });
    expect(rendered).toMatch(/^policies\/z\.yaml:5:9: error: the only error\n/);
    expect(rendered).toMatch(/… and \d+ more warnings\n$/);
    expect(renderProblems(Array(500).fill(error), { colour: false })).toMatch(/… and \d+ more\n$/);
  });

  it('masks the password of a URL and keeps the carets in place', () => {
    const text = 'store: redis://user:hunter2@cache:6379';
    const rendered = renderProblems([problem({ column: 8, source: { text, length: 31 } })], {
      colour: false,
    });
    expect(rendered).not.toContain('hunter2');
    expect(rendered).toContain('store: redis://************@cache:6379');
  });

  it('masks tokens and passwords anywhere in the line', () => {
    const text =
      'a: {token: "one", url: http://u:two@h/x@y, o: "file:///a", Token: 1} redis:///http://u:three@z';
    const rendered = renderProblems([problem({ column: 1, source: { text, length: 1 } })], { colour: false });
    expect(rendered).toContain(
      '     5 | a: {token: "***", url: http://*********@y, o: "file:///a", Token: 1} redis:///http://*******@z\n',
    );
  });

  it.each([
    ['spaces after a key', `token:${' '.repeat(900_000)}b: c`],
    ['only spaces', `a:${' '.repeat(900_000)}b: c`],
    ['many URLs in one word', 'a://'.repeat(250_000)],
    ['many quotes', `token:"`.repeat(120_000)],
  ])('is printed quickly for a line of a megabyte: %s', (_what, text) => {
    const begun = threadMs();
    renderProblems([problem({ column: text.length - 2, source: { text, length: 1 } })], { colour: false });
    expect(threadMs() - begun).toBeLessThan(3_000);
  });

  it('passes no control characters to the terminal', () => {
    const text = 'a: \u001b[31mred\u0007\u202e';
    const rendered = renderProblems([problem({ message: text, hint: text, source: { text, length: 3 } })], {
      colour: false,
    });
    expect(rendered).not.toMatch(/[^\P{C}\n]/u);
  });

  it('is coloured only on request', () => {
    expect(renderProblems([problem()], { colour: true })).toContain('\u001b[1;31merror');
    expect(renderProblems([problem()], { colour: false })).not.toContain('\u001b');
  });
});

describe('problems', () => {
  it('are at most 20 KB of text, the rest is counted', () => {
    const many = Array.from({ length: 5_000 }, (_, line) => problem({ line }));
    const rendered = renderProblems(many, { colour: true });
    expect(Buffer.byteLength(rendered)).toBeLessThan(20_000);
    expect(rendered).toMatch(/… and \d{4} more\n$/);
  });

  it('are sorted by file and position without duplicates; an error replaces a quoting warning', () => {
    const quote = problem({ rule: 'quote', severity: 'warning', message: 'write it in quotes' });
    const sorted = sortProblems([problem({ file: 'b' }), problem({ line: 7 }), quote, problem(), problem()]);
    expect(sorted.map(({ file, line, rule }) => [file, line, rule])).toEqual([
      ['b', 5, 'test'],
      ['policies/a.yaml', 5, 'test'],
      ['policies/a.yaml', 7, 'test'],
    ]);
  });
});
