// The list by which vitest orders the test files names files that exist.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LISTED } from './support/slowest-first.ts';

it('names each file once, where it is', () => {
  expect(LISTED.filter((name) => !existsSync(join(import.meta.dirname, `${name}.test.ts`)))).toEqual([]);
  expect(new Set(LISTED).size).toBe(LISTED.length);
});
