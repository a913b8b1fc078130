// The list by which vitest orders the test files names files that exist.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SLOWEST } from './support/slowest-first.ts';

it('names each file once, where it is', () => {
  expect(SLOWEST.filter((name) => !existsSync(join(import.meta.dirname, `${name}.test.ts`)))).toEqual([]);
  expect(new Set(SLOWEST).size).toBe(SLOWEST.length);
});
