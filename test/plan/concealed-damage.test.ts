// Tests that findings about damaged files show no secrets: extra characters, moved lines, half a merge.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FUZZ_TIMEOUT_MS, fuzz } from '../support/fuzz.ts';
import { CANARY, FORMS, said } from './canaries.ts';
import { GATEWAY, ORDERS } from './workspace.ts';

const SECTIONS: readonly ((value: string) => string)[] = [
  (value) => `headers:\n  request:\n    set:\n      X-Foo: ${value}\n      X-Bar: other\n`,
  (value) => `headers: { request: { set: { X-Foo: ${value}, X-Bar: other } } }\n`,
  (value) => `headers:\n  response:\n    set:\n      X-Foo: ${value}\n    remove: [Server]\n`,
  (value) => `limits:\n  rate: 1/1s\n  token: ${value}\n`,
  (value) => `authorization: ${value}\n`,
  (value) => `secrets:\n  - ${value}\n  - other\n`,
  (value) => `credentials:\n  user: bob\n  pass: ${value}\n`,
  (value) => `headers: { request: { set: { X-Foo:${value}, X-Bar: other } } }\n`,
  (value) => `limits: { rate: 1/1s, token:${value} }\n`,
  (value) => `limits:\n  rate: 1/1q\n  "token:${value}": 1\n`,
  (value) => `limits: { rate: 1/1s, token = ${value}: 1 }\n`,
  (value) => `headers:\n  request:\n    set:\n      X-Foo: #${value}\n`,
  (value) => `token: # ${value}\n`,
];
const ADDED = [...`:{}[]"'#&*!|>%@-,?\`\t\n `];

type Damage = (text: string, at: number, added: string) => string;

/** `at` counts characters. */
const ofCharacters = (removed: number, before: string): Damage => {
  return (text, at, added) => text.slice(0, at) + before.replace('+', added) + text.slice(at + removed);
};
/** The line at `at`, and the next one. */
const ofLines = (change: (line: string, next: string) => readonly string[]): Damage => {
  return (text, at) => {
    const lines = text.split('\n');
    const index = text.slice(0, at).split('\n').length - 1;
    lines.splice(index, 2, ...change(lines[index] ?? '', lines[index + 1] ?? ''));
    return lines.join('\n');
  };
};
const DAMAGES: readonly Damage[] = [
  ofCharacters(0, ''),
  ofCharacters(0, '+'),
  ofCharacters(1, ''),
  ofCharacters(1, '+'),
  ofCharacters(Number.POSITIVE_INFINITY, ''),
  ofLines((line, next) => [`\t${line}`, next]),
  ofLines((line, next) => [`  ${line}`, next]),
  ofLines((line, next) => [line.replace(/^ {1,2}/, ''), next]),
  ofLines((line, next) => [line, line, next]),
  ofLines((line, next) => [next, line]),
  ofLines((line, next) => ['<<<<<<< HEAD', line, next]),
];

it(
  'findings about a damaged file do not quote header values or secrets',
  async () => {
    const drawn = fc.record({
      section: fc.constantFrom(...SECTIONS),
      form: fc.constantFrom(...FORMS),
      behind: fc.constantFrom('', 'api: orders\n', 'base: /api/orders\n', 'mode: enforce\n'),
      damage: fc.constantFrom(...DAMAGES),
      place: fc.double({ min: 0, max: 1, noNaN: true }),
      added: fc.constantFrom(...ADDED),
    });
    await fuzz(
      fc.asyncProperty(drawn, async ({ section, form, behind, damage, place, added }) => {
        const rule = section(form.replaceAll('%', CANARY));
        // Below `versions`, the name of a secret would be the label of a version.
        const whole = `${ORDERS}mode: enforce\n`.replace(behind, `${behind}${rule}`);
        const text = damage(whole, Math.floor(place * whole.length), added);
        const line = (await said(text, GATEWAY)).split('\n').find((each) => each.includes(CANARY));
        expect(line === undefined ? '' : `${text}\n-> ${line}`).toBe('');
      }),
      200,
    );
  },
  FUZZ_TIMEOUT_MS,
);
