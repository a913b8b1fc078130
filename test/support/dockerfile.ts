// Reads the Dockerfile as data: stages, files and packages; throws for instructions of an unknown form.
import { globSync, readFileSync, statSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { ROOT } from './deployed-files.ts';

export interface Stage {
  readonly name: string;
  /** An image, or an earlier stage. */
  readonly from: string;
  /** Instructions of this stage only, one entry each. */
  readonly instructions: readonly string[];
}

/** Operands of each instruction `word`, in order. */
export const operands = ({ instructions }: Stage, word: string): readonly string[] =>
  instructions.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));

export function readStages(): readonly Stage[] {
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ');
  return text
    .split(/^FROM /m)
    .slice(1)
    .map((part) => {
      const [head = '', ...instructions] = part.split('\n').filter((line) => line !== '');
      const [from = '', name = ''] = head.split(' AS ');
      return { name, from, instructions };
    });
}

/** A stage and the stages it is based on, the first one first. */
export function lineage(stages: readonly Stage[], name: string): readonly Stage[] {
  const stage = stages.find((each) => each.name === name);
  return stage === undefined ? [] : [...lineage(stages, stage.from), stage];
}

/** The folder that `npm run build` writes. Its content is copied into the working directory of the image. */
export const BUILT = 'dist/package';

/** Files that are copied into the stage under their own path, without the built package. */
export function filesIn(stages: readonly Stage[], name: string): ReadonlySet<string> {
  const files = new Set<string>();
  for (const copied of lineage(stages, name).flatMap((stage) => operands(stage, 'COPY'))) {
    if (copied.startsWith('--from=') || copied === `${BUILT} ./`) continue;
    const paths = copied.split(' ');
    const to = paths.pop() ?? '';
    for (const path of paths.flatMap((each) => globSync(each, { cwd: ROOT }))) {
      const kept = to.endsWith('/') ? join(to, path.split('/').at(-1) ?? '') : to;
      if (kept !== path) throw new Error(`${path} is copied to another place, ${kept}`);
      for (const file of filesBelow(path)) files.add(file);
    }
  }
  return files;
}

export function healthCommandOf(stages: readonly Stage[]): readonly string[] {
  const [line = ''] = lineage(stages, 'gateway').flatMap((stage) => operands(stage, 'HEALTHCHECK'));
  return JSON.parse(line.slice(line.indexOf('CMD ') + 'CMD '.length));
}

export function packagesIn(
  stages: readonly Stage[],
  name: string,
  dependencies: readonly string[],
): Set<string> {
  const line = lineage(stages, name);
  const copies = line.flatMap((stage) => operands(stage, 'COPY'));
  const source = /^--from=(\S+) \/app\/node_modules node_modules$/m.exec(copies.join('\n'))?.[1];
  if (source !== undefined) return packagesIn(stages, source, dependencies);
  const packages = new Set<string>();
  for (const command of line.flatMap((stage) => operands(stage, 'RUN'))) {
    const [manager, action, ...words] = command.split(' ');
    if (manager !== 'npm') continue;
    const named = words.filter((word) => !word.startsWith('--'));
    if (action === 'ci' && words.includes('--omit=dev')) for (const each of dependencies) packages.add(each);
    else if (action === 'uninstall' && words.includes('--no-save'))
      for (const each of named) packages.delete(each);
    else throw new Error(`unknown what this command installs: ${command}`);
  }
  return packages;
}

/** Whether .dockerignore includes the file in the build context. */
export function isSent(file: string): boolean {
  const lines = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => /^[^#]/.test(line));
  return lines.reduce((sent, line) => {
    const [isBack, pattern] = line.startsWith('!') ? [true, line.slice(1)] : [false, line];
    const isMeant = pattern === '*' || matchesGlob(file, pattern) || file.startsWith(`${pattern}/`);
    return isMeant ? isBack : sent;
  }, true);
}

function filesBelow(path: string): readonly string[] {
  if (!statSync(join(ROOT, path)).isDirectory()) return [path];
  const below = globSync(`${path}/**/*`, { cwd: ROOT, withFileTypes: false });
  return below.filter((each) => statSync(join(ROOT, each)).isFile());
}
