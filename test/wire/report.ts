// The result of a run: totals, and a line for each case that did not pass.
import type { Result } from './run-cases.ts';

export interface Totals {
  readonly cases: number;
  readonly pass: number;
  readonly lax: number;
  readonly fail: number;
}

export function totalsOf(results: readonly Result[]): Totals {
  const count = (verdict: Result['verdict']): number =>
    results.filter((each) => each.verdict === verdict).length;
  return { cases: results.length, pass: count('PASS'), lax: count('LAX'), fail: count('FAIL') };
}

/** One line per FAIL, then per LAX. */
export function shortcomings(results: readonly Result[]): string[] {
  const worst = results.filter(({ verdict }) => verdict === 'FAIL');
  const lax = results.filter(({ verdict }) => verdict === 'LAX');
  return [...worst, ...lax].map(
    ({ verdict, id, rules, title, reasons }) =>
      `${verdict} ${id} (${rules.join(', ')}: ${title}): ${reasons.join('; ')}`,
  );
}

/** One line per case that was refused with another status than the rules name. */
export function otherStatuses(results: readonly Result[]): string[] {
  return results.flatMap(({ id, note }) => (note === undefined ? [] : [`${id}: ${note}`]));
}

const KINDS = ['request', 'response', 'websocket'] as const;

/** A Markdown table with a row per run and a column per kind: FAIL / LAX / cases. */
export function comparison(runs: readonly (readonly [name: string, results: readonly Result[]])[]): string {
  const rows = runs.map(([name, results]) => {
    const cells = KINDS.map((kind) => {
      const { fail, lax, cases } = totalsOf(results.filter((each) => each.kind === kind));
      return `${fail} / ${lax} of ${cases}`;
    });
    return `| ${[name, ...cells].join(' | ')} |`;
  });
  return ['| FAIL / LAX | requests | responses | WebSockets |', '| --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
}
