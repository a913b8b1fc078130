// Each refusal reason and each fault code, read from its union, must appear in a journey.
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BOUND_DEFAULTS } from '../../gateway/plan/grammar/bounds-section.ts';

const GATEWAY = join(import.meta.dirname, '../../gateway');

/** The files that declare the members of `Refusal`. */
const REFUSALS = [
  'exchange/directive.ts',
  'policy/versioning/resolution.ts',
  'policy/lifecycle/schedule.ts',
  'policy/maintenance/maintenance.ts',
  'policy/authentication/access.ts',
  'policy/rate-limit/limit.ts',
  'policy/body-notice/conditions.ts',
  'policy/idempotency/rules.ts',
];

async function reasons(): Promise<readonly string[]> {
  const texts = await Promise.all(REFUSALS.map((file) => readFile(join(GATEWAY, file), 'utf8')));
  return texts.flatMap((text) =>
    [...text.matchAll(/readonly reason: '(\w+)'/g)].map(([, reason = '']) => reason),
  );
}

async function faults(): Promise<readonly string[]> {
  const text = await readFile(join(GATEWAY, 'exchange/directive.ts'), 'utf8');
  const union = /export type FaultCode =([^;]+);/.exec(text)?.[1] ?? '';
  return [...union.matchAll(/'(\w+)'/g)].map(([, code = '']) => code);
}

/** Names that a journey expects in the access log, in a field or in a column of a table. */
async function namedInJourneys(): Promise<ReadonlySet<string>> {
  const named = new Set<string>();
  for await (const file of glob(join(import.meta.dirname, '**/*.ts'))) {
    if (file === import.meta.filename) continue;
    for (const [, name = ''] of (await readFile(file, 'utf8')).matchAll(/'([a-z]+(?:_[a-z]+)*)'/g))
      named.add(name);
  }
  return named;
}

describe('the journeys', () => {
  it('run on the fast plane, which is the default and which no gateway file changes', async () => {
    expect(BOUND_DEFAULTS.plane).toBe('fast');
    const naming: string[] = [];
    for await (const file of glob(join(import.meta.dirname, '**/*.{ts,yaml}')))
      if (file !== import.meta.filename && /\bplane: /.test(await readFile(file, 'utf8'))) naming.push(file);
    expect(naming).toEqual([]);
  });

  it('meet every refusal reason', async () => {
    const [all, named] = [await reasons(), await namedInJourneys()];
    expect(all.length).toBeGreaterThanOrEqual(21);
    expect(all.filter((reason) => !named.has(reason))).toEqual([]);
  });

  it('meet every fault code', async () => {
    const [all, named] = [await faults(), await namedInJourneys()];
    expect(all.length).toBeGreaterThanOrEqual(11);
    expect(all.filter((code) => !named.has(code))).toEqual([]);
  });

  it('read every union of which a refusal consists', async () => {
    const text = await readFile(join(GATEWAY, 'exchange/directive.ts'), 'utf8');
    const union = /export type Refusal =([^;]+);/.exec(text)?.[1] ?? '';
    const members = [...union.matchAll(/\w+Refusal/g)].map(([name]) => name);
    const declared = await Promise.all(REFUSALS.map((file) => readFile(join(GATEWAY, file), 'utf8')));
    expect(members.length).toBeGreaterThanOrEqual(5);
    for (const member of members)
      expect(declared.some((source) => source.includes(`export type ${member} =`))).toBe(true);
  });
});
