// `sundial extend`: one more extension of a sunset, judged by the rules of `check` before it is written into the file.
// The command line calls `runExtend`; what it returns is printed and exited with.
import { resolve } from 'node:path';
import { factsOf } from '../plan/changes/api-facts.ts';
import { compareFacts, spellChange } from '../plan/changes/compare.ts';
import { spliceExtension } from '../plan/extension-splice.ts';
import { type ReadFile, readCapped } from '../plan/files.ts';
import type { Environment } from '../plan/interpolate.ts';
import { type Loaded, loadAll } from '../plan/load.ts';
import type { PolicySource } from '../plan/load-documents.ts';
import { hasErrors, maskPasswords, type Problem, renderProblems } from '../plan/problems.ts';
import { hasSunset } from '../plan/redirects.ts';
import type { EpochMs } from '../policy/contract.ts';
import { dayOf } from '../policy/notation.ts';
import { type CommandResult, exitCodeOf } from './check.ts';
import { printable } from './diff.ts';
import { failedExpectations } from './expectations.ts';
import { replaceFile } from './replace-file.ts';
import { unifiedDiff } from './unified-diff.ts';

/** An instant, and how it is to stand in the file. */
interface WrittenInstant {
  readonly at: EpochMs;
  readonly text: string;
}

export interface ExtendOptions {
  readonly api: string;
  readonly version: string;
  /** The new sunset. */
  readonly to: WrittenInstant;
  readonly why: string;
  /** Undefined: today. */
  readonly announced: WrittenInstant | undefined;
  /** Show, and write nothing. */
  readonly dryRun: boolean;
  readonly configFile: string;
  readonly environment: Environment;
  readonly now: EpochMs;
  readonly colour: boolean;
  readonly cwd?: string;
}

/**
 * 1 when the files have errors, before or with the extension: then nothing is written. 2 when there is no such version,
 * or a file cannot be read or written. Rules that are only warnings in the file are printed and let it through (RET-11).
 */
export async function runExtend(options: ExtendOptions): Promise<CommandResult> {
  const cwd = options.cwd ?? process.cwd();
  const before = await loadAll(options);
  if (hasErrors(before.problems) || before.sources === undefined) return refusedBy(before.problems, options);
  const source = before.sources.policies.find(({ file }) => file.api === options.api);
  if (source === undefined) return unusable(nothingCalled('API', options.api, namesOf(before)));
  const versions = typeof source.file.versions === 'object' ? source.file.versions : {};
  const version = Object.hasOwn(versions, options.version) ? versions[options.version] : undefined;
  if (version === undefined)
    return unusable(nothingCalled('version', options.version, Object.keys(versions)));
  const at = ['versions', options.version];
  if (version.sunset === undefined) {
    const message = `${options.version} has no sunset that could be extended`;
    return refusedBy([source.document.problem(at, { rule: 'extend', message })], options);
  }
  if (hasSunset(version, options.now)) {
    const message = `the sunset of ${options.version} has passed: a version that is gone stays gone`;
    return refusedBy([source.document.problem([...at, 'sunset'], { rule: 'extend', message })], options);
  }
  if (options.why.includes('${')) return unusable('the reason cannot contain ${');

  const path = resolve(cwd, source.document.file);
  const bytes = await readCapped(path);
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const { to, announced, why } = options;
  const spliced = spliceExtension(text, options.version, {
    to: to.text,
    announced: announced?.text ?? dayOf(options.now),
    why,
  });
  if (spliced.kind === 'refused')
    return refusedBy([source.document.problem(at, { rule: 'extend', message: spliced.message })], options);

  const edited = new TextEncoder().encode(spliced.text);
  const readFile: ReadFile = async (file) => (file === path ? edited : readCapped(file));
  const after = await loadAll({ ...options, readFile });
  if (hasErrors(after.problems)) return refusedBy(after.problems, options);
  const extended = after.sources?.policies.find(({ file }) => file.api === options.api);
  if (extended === undefined || sunsetOf(after, options) !== to.at)
    throw new Error('an extension that was written is not what the file then says');

  const written = await write(path, { bytes, edited, dryRun: options.dryRun });
  if (written !== undefined) return unusable(`cannot write ${source.document.file}: ${written}`);
  const shown = unifiedDiff(source.document.file, text, spliced.text);
  return {
    exitCode: 0,
    text: maskPasswords(shown).split('\n').map(printable).join('\n') + (await follows()),
  };

  async function follows(): Promise<string> {
    const notes = [...newIn(before, after), ...(await failedExpectations(after))];
    const words = options.dryRun
      ? 'Nothing is written: this is a dry run.'
      : `${source?.document.file} is written.`;
    return `\n${changesBetween(source, extended)}${renderProblems(notes, options)}${words}\n`;
  }
}

function changesBetween(before: PolicySource | undefined, after: PolicySource | undefined): string {
  const sides = [before, after].map((side) => (side === undefined ? [] : [factsOf(side)]));
  return compareFacts(sides[0] ?? [], sides[1] ?? [])
    .map((change) => `${printable(spellChange(change))}\n`)
    .join('');
}

/** What the system said against it; undefined once it is done. */
async function write(
  path: string,
  { bytes, edited, dryRun }: { bytes: Uint8Array; edited: Uint8Array; dryRun: boolean },
): Promise<string | undefined> {
  if (dryRun) return undefined;
  try {
    await replaceFile(path, bytes, edited);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return error.message;
  }
}

function sunsetOf({ plan }: Loaded, { api, version }: ExtendOptions): EpochMs | undefined {
  return plan?.apis.find(({ name }) => name === api)?.versions.get(version)?.schedule.sunset;
}

/** Warnings that the extension brought. */
function newIn(before: Loaded, after: Loaded): readonly Problem[] {
  const known = new Set(before.problems.map(({ rule, message }) => `${rule}\n${message}`));
  return after.problems.filter(({ rule, message }) => !known.has(`${rule}\n${message}`));
}

function refusedBy(problems: readonly Problem[], options: ExtendOptions): CommandResult {
  const text = `${renderProblems(problems, options)}Nothing is written.\n`;
  return { exitCode: exitCodeOf(problems, false), text };
}

function unusable(message: string): CommandResult {
  return { exitCode: 2, text: `sundial: ${printable(message)}\n` };
}

function namesOf({ plan }: Loaded): readonly string[] {
  return plan?.apis.map(({ name }) => name) ?? [];
}

function nothingCalled(noun: string, name: string, known: readonly string[]): string {
  const others = known.length === 0 ? 'there is none' : `there are ${known.join(', ')}`;
  return `no ${noun} is called ${JSON.stringify(name)}: ${others}`;
}
