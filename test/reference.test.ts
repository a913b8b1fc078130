// The generated pages of docs/ are those that `npm run docs` writes.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { glossaryPage } from '../build/reference/glossary.ts';
import { REFERENCE, referencePages } from '../build/reference/pages.ts';

const FOLDER = join(import.meta.dirname, '..', REFERENCE);

it.each([...referencePages(), glossaryPage()])('$file is up to date', async ({ file, text }) => {
  const written = await readFile(join(FOLDER, file), 'utf8').catch(() => '');
  expect(written === text, `${REFERENCE}/${file} is out of date: run \`npm run docs\``).toBe(true);
});

it.each(referencePages())('each row of $file has a description', ({ file, text }) => {
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  expect(rows.length).toBeGreaterThan(20);
  const isEmpty = file.endsWith('-keys.md') ? /^\| `[^`]+` \| {2}\|/ : /\| {2}\|$/;
  expect(rows.filter((row) => isEmpty.test(row))).toEqual([]);
});
