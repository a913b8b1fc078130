// The pages of wire rules explain the rule ids that code and tests cite, and no others.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT, readPage } from './support/readme-text.ts';

const MAX_WORDS = 20;

const text = ['wire-rules', 'wire-rules-policies']
  .map((name) => readPage(`docs/reference/${name}.md`))
  .join('\n');
const groups = text.split(/^## /m).slice(1);
const rows = Array.from(text.matchAll(/^\| ([A-Z0-9]+-\d+) \| (.+) \| (.+) \|$/gm), (row) => ({
  id: row[1] ?? '',
  sentence: row[2] ?? '',
}));
const prefixes = new Set(groups.flatMap(prefixesOf));
const cited = citedIds();

/** A heading names the prefixes of its rules, such as `DEP, SUN: the dates in headers`. */
function prefixesOf(group: string): readonly string[] {
  return group.slice(0, group.indexOf(':')).split(', ');
}

function citedIds(): ReadonlySet<string> {
  const pattern = new RegExp(`\\b(?:${[...prefixes].join('|')})-\\d+\\b`, 'g');
  const files = globSync('{gateway,upstreams,test}/**/*.{ts,js,lua}', { cwd: ROOT });
  return new Set(files.flatMap((file) => readFileSync(join(ROOT, file), 'utf8').match(pattern) ?? []));
}

it('each cited rule has one row, and each row is cited', () => {
  expect(rows.map(({ id }) => id).sort()).toEqual([...cited].sort());
});

it('each rule stands below the heading of its prefix', () => {
  const misplaced = groups.flatMap((group) => {
    const own = prefixesOf(group);
    const ids = Array.from(group.matchAll(/^\| ([A-Z0-9]+)-(\d+) \|/gm));
    return ids.filter(([, prefix = '']) => !own.includes(prefix)).map(([row]) => row);
  });
  expect(misplaced).toEqual([]);
});

it(`each row has one sentence of at most ${MAX_WORDS} words`, () => {
  const wrong = rows.filter(
    ({ sentence }) => !/^(?:(?![.?!] [A-Z`]).)+\.$/.test(sentence) || sentence.split(' ').length > MAX_WORDS,
  );
  expect(wrong).toEqual([]);
});
