// Schemas, the dashboard and the help of commands explain a term by the sentence of the glossary.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { editorSchemas } from '../gateway/plan/grammar/editor-schemas.ts';
import { GLOSSARY } from '../gateway/policy/glossary.ts';
import { printHelp } from './support/program-help.ts';
import { ROOT } from './support/readme-text.ts';

type Term = keyof typeof GLOSSARY;

/** Keys that are a term of the glossary. `''`: the whole file. */
const KEYS: readonly (readonly [kind: 'policy' | 'gateway', key: string, term: Term])[] = [
  ['policy', '', 'policy file'],
  ['policy', 'audience', 'audience'],
  ['policy', 'breaker', 'breaker'],
  ['policy', 'brownouts', 'brownout'],
  ['policy', 'burst', 'burst'],
  ['policy', 'exceptions', 'exception'],
  ['policy', 'extended', 'extension'],
  ['policy', 'freeze', 'freeze'],
  ['policy', 'guide', 'guide'],
  ['policy', 'pin', 'pin'],
  ['policy', 'successor', 'successor'],
  ['policy', 'sunset', 'sunset'],
  ['gateway', '', 'gateway file'],
  ['gateway', 'admin', 'admin listener'],
  ['gateway', 'drain', 'drain'],
  ['gateway', 'guard', 'guard'],
  ['gateway', 'identity', 'identity'],
  ['gateway', 'ledger', 'ledger'],
];

const schemas = new Map(editorSchemas().map(({ file, text }) => [file, JSON.parse(text)]));

interface Node {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly anyOf?: readonly Node[];
}

/** Of every place with the key. Keys of `expect` describe a request, so they are left out. */
function descriptionsOf(schema: Node, key: string): readonly string[] {
  if (key === '') return [schema.description ?? ''];
  const found: string[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, below] of Object.entries(node)) {
      if (name === 'expect') continue;
      if (name === 'properties' && Object.hasOwn(below, key)) found.push(describedBy(below[key]));
      walk(below);
    }
  };
  walk(schema);
  return found;
}

function describedBy({ description, anyOf = [] }: Node): string {
  return description ?? anyOf.map((each) => each.description ?? '').join(' ');
}

describe('the schema of a file', () => {
  it.each(KEYS)('%s: %s has the sentence of %s', (kind, key, term) => {
    const descriptions = descriptionsOf(schemas.get(`${kind}.schema.json`), key);
    expect(descriptions).not.toEqual([]);
    for (const description of descriptions) expect(description).toContain(GLOSSARY[term]);
  });
});

describe('the help of a command', () => {
  it.each([
    ['pause', 'pause'],
    ['extend', 'extension'],
    ['pin', 'pin'],
    ['usage', 'ledger'],
  ] as const)('%s has the sentence of %s', async (command, term) => {
    const { stdout } = await printHelp([command]);
    expect(stdout).toContain(GLOSSARY[term]);
  });
});

it('a meaning on the dashboard is a sentence of the glossary', async () => {
  const { MEANINGS } = await import(join(ROOT, 'gateway/admin/dashboard/page/parts.js'));
  const meanings: unknown[] = Object.values(MEANINGS);
  expect(meanings.length).toBeGreaterThan(10);
  expect(Object.values(GLOSSARY)).toEqual(expect.arrayContaining(meanings));
});

it.each(Object.entries(GLOSSARY))('%s has one sentence', (_, sentence) => {
  expect(sentence).toMatch(/^[A-Z].*[^.]\.$/);
  expect(sentence.split(' ').length).toBeLessThanOrEqual(25);
});
