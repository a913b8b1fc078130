// The list of slow test files, by which Vitest orders its run.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SLOWEST } from './support/slowest-first.ts';

it('names only existing files, each once', () => {
  expect(SLOWEST.filter((name) => !existsSync(join(import.meta.dirname, `${name}.test.ts`)))).toEqual([]);
  expect(new Set(SLOWEST).size).toBe(SLOWEST.length);
});
