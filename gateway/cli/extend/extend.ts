// `sundial extend`: adds an extension of a sunset to a policy file, after the checks of `check`.
import { resolve } from 'node:path';
import { compareFacts, formatChange } from '../../plan/changes/compare.ts';
import { factsOf } from '../../plan/changes/policy-facts.ts';
import { type Loaded, loadAll } from '../../plan/load.ts';
import type { PolicySource } from '../../plan/load-documents.ts';
import { nextCommand } from '../../plan/next-command.ts';
import { hasErrors, maskPasswords, type Problem, renderProblems } from '../../plan/problems.ts';
import type { Path } from '../../plan/read/document.ts';
import { type ReadFile, readCapped } from '../../plan/read/files.ts';
import { versionsOf, wholeApiParts } from '../../plan/versions.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { dayOf, lineOfText } from '../../policy/notation.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import type { PolicyFile, VersionParts } from '../../sections/policy-file.ts';
import { isRuleName, RULES } from '../../sections/rules/grammar.ts';
import { effectiveSunset, hasSunset } from '../../sections/schedule/redirects.ts';
import { isInherited } from '../../sections/view.ts';
import { type CommandResult, exitCodeOf } from '../command-result.ts';
import type { PrintedFiles } from '../command-setting.ts';
import { printable } from '../diff/diff.ts';
import { failedExpectations } from '../expectations.ts';
import { nothingCalled } from '../nothing-called.ts';
import { replaceFile } from '../replace-file.ts';
import { spliceExtension } from './extension-splice.ts';

const WHY = lineOfText('Why.', 'acme is still migrating');

interface WrittenInstant {
  readonly at: EpochMs;
  readonly text: string;
}

export interface ExtendOptions extends PrintedFiles {
  readonly api: string;
  /** Undefined: the sunset of the whole API. */
  readonly version: string | undefined;
  readonly to: WrittenInstant;
  readonly why: string;
  /** Undefined: today. */
  readonly announced: WrittenInstant | undefined;
  readonly dryRun: boolean;
}

/**
 * Exit code 1 if the files have errors, before or with the extension; nothing is written then. 2 if the version is
 * unknown, or a file cannot be read or written. Warnings are printed and do not prevent the extension (RET-11).
 */
export async function runExtend(options: ExtendOptions): Promise<CommandResult> {
  const cwd = options.cwd ?? process.cwd();
  if (!WHY.safeParse(options.why).success)
    return unusable('--why must be a single line of 1 to 300 printable characters');
  if (options.why.includes('${')) return unusable('the reason cannot contain ${');
  const before = await loadAll(options);
  if (hasErrors(before.problems) || before.sources === undefined) return refusedBy(before.problems, options);
  const source = before.sources.policies.find(({ file }) => file.api === options.api);
  if (source === undefined) return unusable(nothingCalled('API', options.api, namesOf(before)));
  const versions = labelsOf(source.file);
  const version = versions.length === 0 && options.version === UNVERSIONED ? undefined : options.version;
  if (version !== undefined && versions.length === 0)
    return unusable(`${options.api} has no versions: leave ${JSON.stringify(version)} out to extend the API`);
  if (version !== undefined && !versions.includes(version))
    return unusable(nothingCalled('version', version, versions));
  const name = version ?? options.api;
  const at = version === undefined ? [] : ['versions', version];
  const refuse = (path: Path, message: string, hint?: string) =>
    refusedBy([source.document.problem(path, { rule: 'extend', message, hint })], options);
  const life = lifeOf(source.file, version);
  if (life.sunset === undefined) {
    const hint =
      version === undefined && versions.length > 0 ? 'name the version whose sunset it is' : undefined;
    return refuse(at, `${name} has no sunset that could be extended`, hint);
  }
  if (version !== undefined && isReached(source, version)) {
    const next = nextCommand({ ...options, config: options.configFile });
    const command = next('extend', options.api, '--to', options.to.text, '--why', '"…"');
    const hint = `for every version without one of its own: ${command}`;
    return refuse(['sunset'], `${version} has the sunset of the whole API`, hint);
  }
  if (version === undefined && versions.length > 0 && !versions.some((each) => isReached(source, each))) {
    const message = `no version of ${options.api} would end later: each has a sunset or an extension of its own`;
    return refuse(['sunset'], message, 'name the version whose sunset it is');
  }
  if (hasSunset(life, options.now)) {
    const what = version === undefined ? 'an API' : 'a version';
    return refuse(
      [...at, 'sunset'],
      `the sunset of ${name} has passed: ${what} that has ended is not revived`,
    );
  }

  const path = resolve(cwd, source.document.file);
  const bytes = await readCapped(path);
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const { to, announced, why } = options;
  const spliced = spliceExtension(text, version, {
    to: to.text,
    announced: announced?.text ?? dayOf(options.now),
    why,
  });
  if (spliced.kind === 'refused') return refuse(at, spliced.message);

  const edited = new TextEncoder().encode(spliced.text);
  const readFile: ReadFile = async (file) => (file === path ? edited : readCapped(file));
  const after = await loadAll({ ...options, readFile });
  if (hasErrors(after.problems))
    return refusedBy(after.problems, options, madeErrors(after.problems, source.file));
  const extended = after.sources?.policies.find(({ file }) => file.api === options.api);
  if (extended === undefined || effectiveSunset(lifeOf(extended.file, version)) !== to.at)
    throw new Error('an extension that was written differs from the file');

  const refused = options.dryRun ? undefined : await replaceFile(path, bytes, edited);
  if (refused !== undefined) return unusable(`cannot write ${source.document.file}: ${refused}`);
  const shown = unifiedDiff(source.document.file, text, spliced.text);
  return {
    exitCode: 0,
    text: maskPasswords(shown).split('\n').map(printable).join('\n') + (await follows()),
  };

  async function follows(): Promise<string> {
    const outdated = await failedExpectations(after);
    const notes = [...newIn(before, after), ...outdated];
    const words = options.dryRun
      ? 'Nothing is written: this is a dry run.'
      : `${source?.document.file} is written.${outdated.length > 0 ? ' Now adapt the expectations that no longer hold.' : ''}`;
    return `\n${changesBetween(source, extended)}${renderProblems(notes, options)}${words}\n`;
  }
}

function changesBetween(before: PolicySource | undefined, after: PolicySource | undefined): string {
  const sides = [before, after].map((side) => (side === undefined ? [] : [factsOf(side)]));
  return compareFacts(sides[0] ?? [], sides[1] ?? [])
    .map((change) => `${printable(formatChange(change))}\n`)
    .join('');
}

function lifeOf(file: PolicyFile, version: string | undefined): VersionParts {
  return version === undefined ? wholeApiParts(file) : (versionsOf(file).get(version) ?? {});
}

function labelsOf({ versions }: PolicyFile): readonly string[] {
  return versions === 'none' ? [] : Object.keys(versions);
}

/** Whether an extension of the whole API extends this version: it inherits the sunset and has no entry of its own. */
function isReached({ document }: PolicySource, version: string): boolean {
  const inherits = (key: string) => isInherited(document, version, key);
  return inherits('sunset') && (inherits('extended') || !document.has(['versions', version, 'extended']));
}

function newIn(before: Loaded, after: Loaded): readonly Problem[] {
  const known = new Set(before.problems.map(({ rule, message }) => `${rule}\n${message}`));
  return after.problems.filter(({ rule, message }) => !known.has(`${rule}\n${message}`));
}

function refusedBy(problems: readonly Problem[], options: ExtendOptions, because = ''): CommandResult {
  const text = `${renderProblems(problems, options)}Nothing is written${because}.\n`;
  return { exitCode: exitCodeOf(problems, false), text };
}

/** Advice if the file itself makes a rule an error that is usually a warning. */
function madeErrors(problems: readonly Problem[], { rules: severities }: PolicyFile): string {
  const strict = problems.filter(
    ({ rule, severity }) =>
      severity === 'error' &&
      isRuleName(rule) &&
      RULES[rule].severity === 'warning' &&
      severities?.[rule] === 'error',
  );
  const [first] = strict;
  if (first === undefined) return '';
  const rules = [...new Set(strict.map(({ rule }) => rule))].join(' and ');
  return `: ${first.file} makes ${rules} an error. Choose --to and --announced that keep it, or set it to warning under "rules:"`;
}

function unusable(message: string): CommandResult {
  return { exitCode: 2, text: `sundial: ${printable(message)}\n` };
}

function namesOf({ plan }: Loaded): readonly string[] {
  return plan?.apis.map(({ name }) => name) ?? [];
}

const CONTEXT = 3;

/** A unified diff of one hunk. Empty for equal texts. Ignores the kind of line ends. */
function unifiedDiff(file: string, before: string, after: string): string {
  if (before === after) return '';
  const [a, b] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const start = Math.max(0, head - CONTEXT);
  const kept = Math.min(CONTEXT, tail);
  const range = (lines: readonly string[]) => `${start + 1},${lines.length - tail + kept - start}`;
  return [
    `--- ${file}`,
    `+++ ${file}`,
    `@@ -${range(a)} +${range(b)} @@`,
    ...a.slice(start, head).map((line) => ` ${line}`),
    ...a.slice(head, a.length - tail).map((line) => `-${line}`),
    ...b.slice(head, b.length - tail).map((line) => `+${line}`),
    ...a.slice(a.length - tail, a.length - tail + kept).map((line) => ` ${line}`),
    '',
  ].join('\n');
}

/** Marks a missing line end at the end of the file, as `diff` does. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  const last = lines.pop() ?? '';
  return last === '' ? lines : [...lines, `${last}\n\\ No newline at end of file`];
}
