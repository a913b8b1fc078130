// Rules for the language of pages: no listed phrase, short sentences, short pages.
import { describe, expect, it } from 'vitest';
import { isGenerated, PAGES, readPage } from './support/readme-text.ts';

/** Phrases that pages must not contain, and what to write instead. */
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

  it('has no listed phrase', () => {
    const found = Object.entries(WORDS).filter(([word]) => new RegExp(`\\b${word}\\b`, 'i').test(prose));
    expect(found).toEqual([]);
  });

  it(`has sentences of at most ${MAX_WORDS} words on average`, () => {
    const lengths = sentencesOf(prose).map((sentence) => sentence.split(/\s+/).length);
    const sum = lengths.reduce((total, length) => total + length, 0);
    expect(sum / Math.max(lengths.length, 1)).toBeLessThanOrEqual(MAX_WORDS);
  });

  it('has at most 250 lines', () => expect(readPage(page).split('\n').length).toBeLessThanOrEqual(251));
});

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
