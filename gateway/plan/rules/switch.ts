// Applies the `rules` key of a file to what checks report: off is dropped, a severity replaces the usual one.

import type { RulesSection } from '../../sections/rules/grammar.ts';
import { isRuleName, RULES } from '../../sections/rules/grammar.ts';
import type { Report } from '../../sections/view.ts';

/** Findings of rules that cannot be switched pass through. One switch stands for all that a rule has to say. */
export function switchedReport(rules: RulesSection | undefined, report: Report): Report {
  return (path, finding) => {
    const { rule } = finding;
    if (!isRuleName(rule)) return report(path, finding);
    const chosen = rules?.[rule];
    if (chosen === 'off') return;
    report(path, { ...finding, severity: chosen ?? finding.severity ?? RULES[rule].severity });
  };
}
