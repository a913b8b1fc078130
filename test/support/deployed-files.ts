// The files that other tools read, parsed for tests, and the values of the gateway that they must match.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { healthRoutes } from '../../gateway/admin/readiness.ts';
import { hasPlan, type LoadedPlan, loadAll } from '../../gateway/plan/load.ts';
import { renderProblems } from '../../gateway/plan/problems.ts';
import type { Settings } from '../../gateway/plan/settings.ts';

export const ROOT = join(import.meta.dirname, '../..');

/** The longest time to close connections after a drain. */
export const LETTING_GO_MS = 5_000;

export const text = (path: string) => readFile(join(ROOT, path), 'utf8');
export const yaml = async (path: string) => tree(parse(await text(path), { merge: true }));

/** A parsed document. A missing step is an empty tree, so that the assertion on the value fails. */
export interface Tree {
  readonly value: unknown;
  readonly at: (...path: readonly (string | number)[]) => Tree;
  readonly list: readonly Tree[];
  readonly entries: readonly (readonly [name: string, value: Tree])[];
}

export function tree(value: unknown): Tree {
  const step = (from: unknown, key: string | number): unknown =>
    typeof from === 'object' && from !== null ? Reflect.get(from, key) : undefined;
  return {
    value,
    at: (...path) => tree(path.reduce(step, value)),
    get list() {
      return Array.isArray(value) ? value.map((each) => tree(each)) : [];
    },
    get entries() {
      return Object.entries(value ?? {}).map(([name, each]) => [name, tree(each)] as const);
    },
  };
}

export async function load(
  configFile: string,
  environment: Readonly<Record<string, string>> = {},
  now = Date.UTC(2026, 10, 20),
): Promise<LoadedPlan> {
  const loaded = await loadAll({ configFile, environment, now, cwd: ROOT });
  if (!hasPlan(loaded)) throw new Error(renderProblems(loaded.problems, { colour: false }));
  expect(loaded.problems).toEqual([]);
  return loaded;
}

export const drainMs = ({ drain }: Settings) => drain.waitMs + drain.timeoutMs + LETTING_GO_MS;

export const pages = healthRoutes({
  metrics: { render: async () => ({ contentType: '', body: '' }) },
  readiness: () => ({
    state: 'ready',
    store: { kind: 'embedded', state: 'up' },
    revision: '',
    policies: { reloadRefused: false, restartNeeded: false, quarantined: [], leftOut: [] },
  }),
}).map(({ path }) => path);
