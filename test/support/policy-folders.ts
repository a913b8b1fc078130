// The folders of policies that journeys run with, found rather than listed, so that none is forgotten.
// explain.test.ts compares `explain` with a gateway for each of them.
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const JOURNEYS = join(import.meta.dirname, '../journeys');
/** What an operator gets, as seen from there; its identity has a name of its own. */
const SAMPLES = '../../policies';
const SAMPLES_CONFIG = 'explain/gateway.yaml';
/** A template becomes a policy while its journey runs. */
const FILE = /\.yaml(?:\.template)?$/;

/** All paths are relative to test/journeys. */
export interface PolicyFolder {
  readonly folder: string;
  /** The gateway that its journey runs. */
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
  return [...byFolder].map(([folder, found]) => ({
    folder,
    config: configOf(folder),
    files: found.map(({ file }) => file),
    variables: [...new Set(found.flatMap(({ text }) => variablesIn(text)))],
  }));
}

function configOf(folder: string): string {
  if (folder === SAMPLES) return SAMPLES_CONFIG;
  const own = `${folder.split('/')[0]}/gateway.yaml`;
  return existsSync(join(JOURNEYS, own)) ? own : 'gateway.yaml';
}

function variablesIn(text: string): readonly string[] {
  return [...text.matchAll(/\$\{env:(\w+)/g)].map(([, name = '']) => name);
}
