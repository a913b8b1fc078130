// Finds all folders of policies that journeys run with, so that none is forgotten.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export const JOURNEYS = join(import.meta.dirname, '../journeys');
/** The sample policies, relative to JOURNEYS. */
const SAMPLES = '../../policies';
/** The gateway file of most journeys; it also has the identity of the samples. */
const COMMON = 'explain/gateway.yaml';
/** Replaces gateway files whose store is not reachable, or that make no difference. */
const INSTEAD: Readonly<Record<string, string>> = {
  'secrets/policies': COMMON,
  'admin-isolation/policies': 'hostile-bytes/gateway.yaml',
};
/** A journey makes policies from a template, one per edition. */
const FILE = /\.yaml(?:\.template)?$/;
const EDITIONS = ['100', '101'];

/** All paths are relative to test/journeys. */
export interface PolicyFolder {
  readonly title: string;
  readonly folder: string;
  /** Replaces EDITION in a template; undefined if there is no template. */
  readonly edition: string | undefined;
  /** The gateway file of its journey, or an equivalent one. */
  readonly config: string;
  readonly files: readonly string[];
  /** Environment variables that its policies read. */
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
