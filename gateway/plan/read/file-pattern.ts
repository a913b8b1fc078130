// Limits the alternatives of a glob pattern and finds its folder.
import { dirname } from 'node:path';

/** More than anyone needs, and fast to search. */
export const MAX_ALTERNATIVES = 100;

const NUMBERS = /^(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.-?\d+)?$/;
const LETTERS = /^[a-z]\.\.[a-z](?:\.\.-?\d+)?$/i;

/** An upper bound: nested braces count as if they were consecutive. */
export function alternativesIn(pattern: string): number {
  let alternatives = 1;
  const open: { readonly at: number; commas: number }[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const inner = open.at(-1);
    switch (pattern[at]) {
      case '\\':
        at += 1;
        break;
      case '{':
        open.push({ at: at + 1, commas: 0 });
        break;
      case ',':
        if (inner !== undefined) inner.commas += 1;
        break;
      case '}':
        if (inner !== undefined)
          alternatives *= inner.commas === 0 ? inRange(pattern.slice(inner.at, at)) : inner.commas + 1;
        open.pop();
    }
  }
  return alternatives;
}

/** The size of `1..9` or `a..z` without regard to the step. 1 if it is no range. */
function inRange(text: string): number {
  const [, first, last] = NUMBERS.exec(text) ?? [];
  if (first !== undefined && last !== undefined) return Math.abs(Number(last) - Number(first)) + 1;
  if (LETTERS.test(text)) return Math.abs(text.charCodeAt(3) - text.charCodeAt(0)) + 1;
  return /^-?\d+\.\.-?\d+/.test(text) ? Number.POSITIVE_INFINITY : 1;
}

/** The folder of a pattern, up to the first wildcard. */
export function folderOf(pattern: string): string {
  let folder = pattern;
  while (/[*?[\]{}!]/.test(folder) || folder === pattern) folder = dirname(folder);
  return folder;
}
