// Tests files with random changes: each is compiled or refused with a position, without an exception.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderProblems } from '../../gateway/plan/problems.ts';
import { fuzz } from '../support/fuzz.ts';
import { GATEWAY, loadTexts, ORDERS } from './workspace.ts';

const sample = readFileSync(join(import.meta.dirname, '../../policies/orders.yaml'), 'utf8').replaceAll(
  'sample',
  'main',
);

/** Messages of libraries and of the system begin with a capital or name a class. Those of Sundial do not. */
const OF_A_LIBRARY =
  /^[A-Z](?![A-Z]+ )|\b(?:[A-Z][a-z]+)*Error\b|\bE[A-Z]{4,}\b|null bytes|Received|not a function|undefined/;

async function loadText(policy: string, gateway = GATEWAY) {
  const loaded = await loadTexts(policy, gateway);
  for (const { line, column, message, hint = '' } of loaded.problems) {
    expect(Math.min(line, column)).toBeGreaterThanOrEqual(1);
    // Quotes of the file may contain anything.
    for (const said of [message, hint])
      expect(said.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')).not.toMatch(OF_A_LIBRARY);
  }
  expect(Buffer.byteLength(renderProblems(loaded.problems, { colour: true }))).toBeLessThan(20_000);
  const refused = loaded.problems.some(({ severity }) => severity === 'error');
  expect(loaded.plan === undefined).toBe(refused);
  return loaded;
}

const piece = fc.constantFrom(
  '',
  '*x: 1\n',
  '!!int ',
  '!<x> ',
  '%YAML 1.3\n---\n',
  '...',
  '"\\q"',
  '"\\0"',
  '>-x',
  '? [a]\n: b\n',
  '`',
  '@',
  '1e999',
  '9'.repeat(40),
  `\${file:/dev/zero}`,
  `"\${file:x\\0y}"`,
  'http://[',
  '/**/*',
  '(?<',
  'a'.repeat(300),
  '* * * * *',
  '99 99 * * *',
  '\ufeff',
  '\u2028',
  '\ud800',
  ' ',
  '\n',
  ':',
  '- ',
  '{',
  '}',
  '[',
  ']',
  '"',
  '#',
  '*a',
  '&a ',
  '!',
  '|',
  '${',
  '\t',
  '\u0000',
  'é',
  'null',
  '1.10',
  '{}',
  '[]',
  'v1',
  '__proto__',
  'constructor',
  '<<',
  '? ',
);
const cut = (text: string) => fc.tuple(fc.nat(text.length), fc.nat(12), piece);

describe('a changed file', () => {
  it.each([
    ['policy', sample],
    ['short policy', ORDERS],
  ])('%s: is judged without a crash', async (_name, text) => {
    const property = fc.asyncProperty(fc.array(cut(text), { minLength: 1, maxLength: 3 }), async (cuts) => {
      let changed = text;
      for (const [at, length, with_] of cuts)
        changed = changed.slice(0, at) + with_ + changed.slice(at + length);
      await loadText(changed);
    });
    await fuzz(property, 40);
  });

  it.each([
    [`"\${file:x\\0y}"`, 'error: cannot read the file x?y: its name has a NUL character'],
    ['*x', 'error: no anchor above has the name &x'],
    ['* x', 'error: an alias (*), an anchor (&) or a tag (!) is not allowed here'],
    ['!!int x', 'error: an alias (*), an anchor (&) or a tag (!) is not allowed here'],
    ['}', 'error: a bracket or a brace is closed here but was not opened'],
  ])('with %s as a value gets a message of Sundial, not of a library', async (value, message) => {
    const { problems } = await loadText(ORDERS.replace('/api/orders', value));
    expect(renderProblems(problems, { colour: false })).toContain(message);
  });

  it('gateway: is judged without a crash', async () => {
    const property = fc.asyncProperty(cut(GATEWAY), async ([at, length, with_]) => {
      await loadText(ORDERS, GATEWAY.slice(0, at) + with_ + GATEWAY.slice(at + length));
    });
    await fuzz(property, 40);
  });

  it('a value of any kind at any key is judged without a crash', async () => {
    const lines = sample.split('\n');
    const values = fc.constantFrom(
      '',
      '7',
      'true',
      'null',
      '[]',
      '{}',
      '[[]]',
      '[{}]',
      '{ a: 1 }',
      `"\${env:NONE}"`,
      `"\${env:NONE:-x}"`,
      '""',
    );
    const property = fc.asyncProperty(fc.nat(lines.length - 1), values, async (index, value) => {
      const changed = lines.map((line, at) => (at === index ? line.replace(/: .*|:$/, `: ${value}`) : line));
      await loadText(changed.join('\n'));
    });
    await fuzz(property, 40);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});
