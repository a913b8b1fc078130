// `sundial diff`: what changed between two policy files or folders, in the words of the domain, and what the rules say.
// The command line calls `runDiff`; what it returns is printed and exited with.
import { spellChange } from '../plan/changes/compare.ts';
import { type Compared, comparePolicies } from '../plan/changes/sides.ts';
import { countProblems, plural, renderProblems } from '../plan/problems.ts';
import type { Environment } from '../plan/read/interpolate.ts';
import type { EpochMs } from '../policy/contract.ts';
import { type CommandResult, exitCodeOf, forMachines } from './check.ts';

export type DiffFormat = 'text' | 'json';

export interface DiffOptions {
  /** A policy file, or a folder of them. */
  readonly older: string;
  /** Undefined: the policies that the gateway file names. */
  readonly newer: string | undefined;
  readonly configFile: string;
  readonly format: DiffFormat;
  /** Changes alone end with 1 too. */
  readonly exitCode: boolean;
  readonly environment: Environment;
  /** Lifecycle instant the rules judge at. */
  readonly now: EpochMs;
  readonly colour: boolean;
  readonly cwd?: string;
}

/** 1 for findings that are errors, and for changes where that was asked for; 2 for a side that cannot be read. */
export async function runDiff(options: DiffOptions): Promise<CommandResult> {
  const compared = await comparePolicies(options);
  return { exitCode: exitOf(compared, options), text: textOf(compared, options) };
}

function exitOf(compared: Compared, { exitCode }: DiffOptions): CommandResult['exitCode'] {
  if (compared.kind === 'unread') return exitCodeOf(compared.problems, false);
  const changed = exitCode && compared.changes.length > 0;
  return changed ? 1 : exitCodeOf(compared.findings, false);
}

function textOf(compared: Compared, options: DiffOptions): string {
  const changes = compared.kind === 'unread' ? [] : compared.changes;
  const problems = compared.kind === 'unread' ? compared.problems : compared.findings;
  switch (options.format) {
    case 'json':
      return `${JSON.stringify({ changes, problems: problems.map(forMachines) }, undefined, 2)}\n`;
    case 'text': {
      if (compared.kind === 'unread') return renderProblems(problems, options);
      const lines = changes.map((change) => `${printable(spellChange(change))}\n`).join('');
      const findings = problems.length === 0 ? '' : `\n${renderProblems(problems, options)}`;
      return `${lines}${findings}${summary(changes.length, problems)}`;
    }
    default: {
      const never: never = options.format;
      throw new Error(`unhandled format ${String(never)}`);
    }
  }
}

function summary(changes: number, problems: Parameters<typeof countProblems>[0]): string {
  const counted = changes === 0 ? 'no changes' : plural(changes, 'change');
  const found = problems.length === 0 ? '' : `, ${countProblems(problems)}`;
  return changes > 0 && problems.length === 0 ? '' : `${counted}${found}\n`;
}

/** Nothing of a policy file steers the terminal. */
export function printable(text: string): string {
  return text.replace(/(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
}
