// Rules for the language of pages, and of the program's texts and comments.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isGenerated, PAGES, readPage } from './support/readme-text.ts';

/** Phrases that texts must not contain, and what to write instead. */
const WORDS: Readonly<Record<string, string>> = {
  nobody: 'no consumer, no caller, an anonymous caller',
  whoever: 'the caller, any caller',
  'is told': 'sees, gets, reads',
  'are told': 'see, get, read',
  'has leave': 'has an exception, is permitted',
  'what is none': 'a value that is not …',
  'says nothing': 'does not name, does not write',
  'goes on living': 'stays in force',
  'for ever': 'without an end',
  'hand-back': 'returned lease',
};

const MAX_WORDS = 20;
const pages = [...PAGES, 'CONTRIBUTING.md', 'SECURITY.md'].filter((page) => !isGenerated(page));

describe.each(pages)('%s', (page) => {
  const prose = proseOf(readPage(page));

  it('has no listed phrase', () => expect(listedIn(prose)).toEqual([]));

  it(`has sentences of at most ${MAX_WORDS} words on average`, () => {
    const lengths = sentencesOf(prose).map((sentence) => sentence.split(/\s+/).length);
    const sum = lengths.reduce((total, length) => total + length, 0);
    expect(sum / Math.max(lengths.length, 1)).toBeLessThanOrEqual(MAX_WORDS);
  });

  it('has at most 250 lines', () => expect(readPage(page).split('\n').length).toBeLessThanOrEqual(251));
});

const ROOT = join(import.meta.dirname, '..');
const SOURCES = '{gateway,upstreams}/**/*.{ts,js,lua,html}';

it('no comment, message or name of the program has a listed phrase', () => {
  const found = globSync(SOURCES, { cwd: ROOT }).flatMap((file) =>
    listedIn(readFileSync(join(ROOT, file), 'utf8')).map((phrase) => `${file}: ${phrase}`),
  );
  expect(found).toEqual([]);
});

function listedIn(text: string): readonly string[] {
  return Object.entries(WORDS).flatMap(([phrase, instead]) =>
    new RegExp(`\\b${phrase}\\b`, 'i').test(text) ? [`${phrase}: write ${instead}`] : [],
  );
}

/** Without code, tables and headings. */
function proseOf(text: string): string {
  return text.replaceAll(/^```.*?^```$/gms, '').replaceAll(/^(?: {4}|\||#|!\[).*$/gm, '');
}

/** Each line of a list counts as a sentence. */
function sentencesOf(prose: string): readonly string[] {
  return prose
    .split(/\n\s*\n|\n(?=[-\d])|(?<=[.:?])\s+(?=[A-Z`])/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}
