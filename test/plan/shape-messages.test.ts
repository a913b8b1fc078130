// Tests wrong types at every place of both grammars: messages have no terms of zod or JavaScript.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FUZZ_TIMEOUT_MS, samples } from '../support/fuzz.ts';
import { placesOf } from '../support/grammar-places.ts';
import { GATEWAY, loadTexts, ORDERS } from './workspace.ts';

const VALUES = [
  'null',
  '""',
  'word',
  '"two words"',
  '0',
  '-1',
  '3.5',
  '1e400',
  '.nan',
  '.inf',
  '99999999999999999999',
  'true',
  '[]',
  '[null]',
  '[[]]',
  '[{}]',
  '[1, 2]',
  '[word]',
  '{}',
  '{ a: 1 }',
  '{ a: { b: [c] } }',
] as const;

/** Values drawn for a place, on average. All pairs take a minute. */
const VALUES_EACH = 6;

const RIDDLES: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a kind twice', /\b(a map|a list|text|a whole number|true or false)\b.*\bor \1\b/],
  ['more than one "or" in a row without a comma', /expected (?:"[^"]*"|[\w ]+) or (?:"[^"]*"|[\w ]+) or /],
  [
    'a word of the schema builder',
    /\b(?:Invalid|received|ZodError|union)\b|Too (?:small|big)|expected (?:nan|int|number|string|object|record|array)\b/,
  ],
  ['a value of JavaScript', /\bundefined\b|\bNaN\b|\[object|Infinity|Symbol\(/],
  ['nothing', /expected\s*(?::|$)|^\s*$/],
];

describe.each(['policy', 'gateway'] as const)('a value of the wrong type in a %s file', (kind) => {
  const paths = [...new Set(placesOf(kind).map(({ path }) => path))].filter((path) => path !== '');

  const mistakes = fc.tuple(fc.constantFrom(...paths), fc.constantFrom(...VALUES));

  it(
    `gets a plain message, at ${paths.length} places`,
    async () => {
      const found = new Map<string, string>();
      const read = new Set<string>();
      const { seed, drawn } = samples(mistakes, VALUES_EACH * paths.length);
      for (const [path, value] of drawn)
        for (const { message, hint } of await problemsOf(kind, fileWith(path.split('.'), value))) {
          const said = [message, ...(hint === undefined ? [] : [hint])];
          if (read.has(said.join('\n'))) continue;
          read.add(said.join('\n'));
          const riddle = RIDDLES.find(([, pattern]) =>
            said.some((each) => pattern.test(withoutQuotes(each))),
          );
          if (riddle !== undefined)
            found.set(message, `${path}: ${value}: ${riddle[0]}: ${said.join(' | ')}`);
        }
      expect([...found.values()], `drawn with the seed ${seed}`).toEqual([]);
    },
    FUZZ_TIMEOUT_MS,
  );
});

it('messages name each allowed type once, and how to write it', async () => {
  const messages = async (gateway: string) =>
    (await problemsOf('gateway', `${GATEWAY.replace(/^identity.*\n/m, '')}${gateway}`)).map(
      ({ message, hint }) => `${message} (${hint})`,
    );
  expect(await messages('identity: { main: keys }\n')).toEqual([
    'expected a map: "keys" (write main: { issuer: https://<issuer>, audience: <audience> }, or main: { header: X-API-Key })',
  ]);
  expect(await messages('tracing: [1]\n')).toContain('expected "off" or a map, not a list (undefined)');
});

/** Removes quotes of the file. */
const withoutQuotes = (text: string): string => text.replace(/: "[^"]*"$|"[^"]*"/g, '"…"');

function fileWith(path: readonly string[], value: string): string {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const inner = fileWith(rest, value);
  return key === '#' ? `[${inner}]` : `{ ${key === '*' ? 'v1' : key}: ${inner} }`;
}

async function problemsOf(kind: 'policy' | 'gateway', text: string) {
  const { problems } = await (kind === 'policy' ? loadTexts(text, GATEWAY) : loadTexts(ORDERS, text));
  return problems;
}
