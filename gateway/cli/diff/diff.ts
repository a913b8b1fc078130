// `sundial diff`: shows what changed between two policy files or folders, and the findings of `check` for the changes.
import { formatChange } from '../../plan/changes/compare.ts';
import { type Comparison, comparePolicies } from '../../plan/changes/sides.ts';
import { countProblems, plural, renderProblems } from '../../plan/problems.ts';
import { type CommandResult, exitCodeOf, forMachines, jsonText } from '../command-result.ts';
import type { PrintedFiles } from '../command-setting.ts';
import { fetchUsage } from '../live-usage.ts';
import { formatImpact, type Impact, usageImpacts } from '../usage-impact.ts';

export interface DiffOptions extends PrintedFiles {
  readonly older: string;
  /** Undefined: the policies that the gateway file names. */
  readonly newer: string | undefined;
  readonly format: 'text' | 'json';
  readonly live?: boolean;
  /** Whether changes alone give exit code 1. */
  readonly exitCode: boolean;
}

/** Exit code 1 for errors, and for changes with `exitCode`. 2 if a side cannot be read. */
export async function runDiff(options: DiffOptions): Promise<CommandResult> {
  const compared = await comparePolicies(options);
  const impacts = options.live === true ? await impactsOf(compared, options) : [];
  return { exitCode: exitOf(compared, options), text: textOf(compared, impacts, options) };
}

async function impactsOf(compared: Comparison, options: DiffOptions): Promise<readonly Impact[] | string> {
  if (compared.kind === 'unread') return [];
  const { newer, changes } = compared;
  const usage = await fetchUsage(newer, { ...options, config: options.configFile, admin: undefined });
  if (usage.kind === 'absent') return usage.why;
  return usageImpacts(newer, usage, options.now).impacts.filter(({ api, version }) =>
    changes.some((each) => each.api === api && [version, ''].includes(each.subject)),
  );
}

function exitOf(compared: Comparison, { exitCode }: DiffOptions): CommandResult['exitCode'] {
  if (compared.kind === 'unread') return exitCodeOf(compared.problems, false);
  const changed = exitCode && compared.changes.length > 0;
  return changed ? 1 : exitCodeOf(compared.findings, false);
}

function textOf(compared: Comparison, impacts: readonly Impact[] | string, options: DiffOptions): string {
  const changes = compared.kind === 'unread' ? [] : compared.changes;
  const problems = compared.kind === 'unread' ? compared.problems : compared.findings;
  switch (options.format) {
    case 'json':
      return jsonText({
        changes,
        problems: problems.map(forMachines),
        ...(typeof impacts !== 'string' && impacts.length > 0 && { impact: impacts }),
      });
    case 'text': {
      if (compared.kind === 'unread') return renderProblems(problems, options);
      const lines = changes.map((change) => `${printable(formatChange(change))}\n`).join('');
      const findings = problems.length === 0 ? '' : `\n${renderProblems(problems, options)}`;
      return `${lines}${impactText(impacts)}${findings}${summary(changes.length, problems)}`;
    }
    default:
      return options.format satisfies never;
  }
}

function impactText(impacts: readonly Impact[] | string): string {
  if (typeof impacts === 'string') return `\nusage not checked: ${printable(impacts)}\n`;
  if (impacts.length === 0) return '';
  return `\nnow:\n${impacts.map((each) => `  ${printable(formatImpact(each))}\n`).join('')}`;
}

function summary(changes: number, problems: Parameters<typeof countProblems>[0]): string {
  const counted = changes === 0 ? 'no changes' : plural(changes, 'change');
  const found = problems.length === 0 ? '' : `, ${countProblems(problems)}`;
  return changes > 0 && problems.length === 0 ? '' : `${counted}${found}\n`;
}

/** Text from a policy file must not control the terminal. */
export function printable(text: string): string {
  return text.replace(/(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
}
