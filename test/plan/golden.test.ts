// Compares the plans of *.in.yaml with *.golden.json. UPDATE_GOLDEN=1 rewrites them: review the difference.
import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadAll } from '../../gateway/plan/load.ts';
import { planText } from './plan-text.ts';
import { NOW } from './workspace.ts';

const folder = join(import.meta.dirname, 'golden');
const inputs = readdirSync(folder).filter((name) => name.endsWith('.in.yaml'));

describe('golden plans', () => {
  it('exist', () => expect(inputs.length).toBeGreaterThanOrEqual(5));

  it.each(inputs)('%s compiles to its golden plan', async (input) => {
    const loaded = await loadAll({
      configFile: join(folder, 'gateway.yaml'),
      policyFiles: [join(folder, input)],
      environment: {},
      now: NOW,
      cwd: folder,
    });
    expect(loaded.problems).toEqual([]);
    const text = loaded.plan === undefined ? '' : planText(loaded.plan);
    const golden = join(folder, input.replace('.in.yaml', '.golden.json'));
    if (process.env.UPDATE_GOLDEN === '1') await writeFile(golden, text);
    expect(text).toBe(await readFile(golden, 'utf8'));
  });
});
