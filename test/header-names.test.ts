// The notes on headers and the code of the gateway name the same headers.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  FORWARDED_HEADERS,
  type HeaderNote,
  READ_HEADERS,
  RESPONSE_HEADERS,
} from '../build/reference/header-notes.ts';
import { answerFieldsOf, FIELD } from '../gateway/plan/upstreams/answer-fields.ts';
import { METHOD_OVERRIDES } from '../gateway/policy/headers/client-fields.ts';
import { answersOfFaults, answersOfRefusals } from './support/readme-refusals.ts';
import { ROOT } from './support/readme-text.ts';

const namesOf = (notes: readonly HeaderNote[]): ReadonlySet<string> =>
  new Set(notes.flatMap(({ names }) => names.map((name) => name.toLowerCase())));
const read = namesOf(READ_HEADERS);
const forwarded = namesOf(FORWARDED_HEADERS);
const responses = namesOf(RESPONSE_HEADERS);

const sourceOf = (folders: string): string =>
  globSync(`gateway/${folders}/**/*.ts`, { cwd: ROOT })
    .map((file) => readFileSync(join(ROOT, file), 'utf8'))
    .join('\n');

describe('the page of headers', () => {
  const source = sourceOf('{exchange,identity,plan,plane,policy,sections,telemetry,upstream}').toLowerCase();

  it.each([...new Set([...read, ...forwarded, ...responses])])('%s is a header in the code', (name) => {
    expect(source).toMatch(new RegExp(`['" ]${name}['": ]|\\b${name}\\b[:,] `));
  });

  it('has each header that the code reads or writes by its name', () => {
    const calls = sourceOf('{exchange,identity,plane,policy,upstream}').matchAll(
      /\.(?:get|set|append|add|push|remove)\(\s*'([a-z]+(?:-[a-z]+)*)'/g,
    );
    const all = new Set([...read, ...forwarded, ...responses]);
    const missing = Array.from(calls, ([, name = '']) => name).filter((name) => !all.has(name));
    expect([...new Set(missing)]).toEqual([]);
  });

  it('has each header of refusals and faults', () => {
    const answers = [...[...answersOfRefusals().values()].flat(), ...answersOfFaults().values()];
    const names = new Set(answers.flatMap(({ headers }) => Object.keys(headers)));
    expect(names.size).toBeGreaterThan(5);
    expect([...names].filter((name) => !responses.has(name))).toEqual([]);
  });

  it('has each response header that the gateway replaces', () => {
    const unchanged = FIELD.dropped | FIELD.singleton | FIELD.edited;
    const replaced = [...answerFieldsOf(undefined)].filter(([, bits]) => (bits & ~unchanged) !== 0);
    expect(replaced.map(([name]) => name).filter((name) => !responses.has(name))).toEqual([]);
  });

  it('has each header that can override the method', () => {
    expect([...METHOD_OVERRIDES.keys()].filter((name) => !read.has(name))).toEqual([]);
  });
});
