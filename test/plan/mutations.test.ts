// Tests files with random changes: they are compiled or refused with a position, and never cause an exception.
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

async function loadText(policy: string, gateway = GATEWAY) {
  const loaded = await loadTexts(policy, gateway);
  for (const { line, column } of loaded.problems) expect(Math.min(line, column)).toBeGreaterThanOrEqual(1);
  expect(Buffer.byteLength(renderProblems(loaded.problems, { colour: true }))).toBeLessThan(20_000);
  const refused = loaded.problems.some(({ severity }) => severity === 'error');
  expect(loaded.plan === undefined).toBe(refused);
  return loaded;
}

const piece = fc.constantFrom(
  '',
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
