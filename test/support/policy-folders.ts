// The folders of policies that journeys run with, found rather than listed, so that none is forgotten.
// explain.test.ts compares `explain` with a gateway for each of them.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export const JOURNEYS = join(import.meta.dirname, '../journeys');
/** What an operator gets, as seen from there. */
const SAMPLES = '../../policies';
/** That of most journeys, which also knows the identity of the samples. */
const COMMON = 'explain/gateway.yaml';
/** Instead of their own: that has a store which cannot be reached, or is as good as another. */
const INSTEAD: Readonly<Record<string, string>> = {
  'secrets/policies': COMMON,
  'admin-isolation/policies': 'hostile-bytes/gateway.yaml',
};
/** A template becomes a policy while its journey runs, one edition after the other. */
const FILE = /\.yaml(?:\.template)?$/;
const EDITIONS = ['100', '101'];

/** All paths are relative to test/journeys. */
export interface PolicyFolder {
  readonly title: string;
  readonly folder: string;
  /** What stands for EDITION in a template; undefined where there is none. */
  readonly edition: string | undefined;
  /** Of the gateway that its journey runs, or of one with all that this has. */
  readonly config: string;
  readonly files: readonly string[];
  /** What its policies read from the environment. */
  readonly variables: readonly string[];
}

export async function policyFolders(): Promise<readonly PolicyFolder[]> {
  const names = [JOURNEYS, join(JOURNEYS, SAMPLES)].map(async (root, index) => {
    const within = await readdir(root, { recursive: true });
    return within.map((name) => (index === 0 ? name : `${SAMPLES}/${name}`));
  });
  const files = (await Promise.all(names)).flat().filter((name) => FILE.test(name));
  const texts = await Promise.all(files.map((file) => readFile(join(JOURNEYS, file), 'utf8')));
  const policies = files.flatMap((file, index) => {
    const text = texts[index] ?? '';
    return /^api:/m.test(text) ? [{ file, text }] : [];
  });
  const byFolder = Map.groupBy(policies, ({ file }) => dirname(file));
  return [...byFolder].flatMap(([folder, found]) => {
    const isTemplate = found.some(({ text }) => text.includes('EDITION'));
    const read = {
      folder,
      config: configOf(folder),
      files: found.map(({ file }) => file),
      variables: [...new Set(found.flatMap(({ text }) => variablesIn(text)))],
    };
    return (isTemplate ? EDITIONS : [undefined]).map((edition) => ({
      ...read,
      title: edition === undefined ? folder : `${folder}, edition ${edition}`,
      edition,
    }));
  });
}

function configOf(folder: string): string {
  const own = `${folder.split('/')[0]}/gateway.yaml`;
  return INSTEAD[folder] ?? (folder !== SAMPLES && existsSync(join(JOURNEYS, own)) ? own : COMMON);
}

function variablesIn(text: string): readonly string[] {
  return [...text.matchAll(/\$\{env:(\w+)/g)].map(([, name = '']) => name);
}
