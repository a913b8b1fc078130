// Applies the `rules` key of a file to findings: `off` drops them, a severity replaces the default.

import type { RulesSection } from '../../sections/rules/grammar.ts';
import { isRuleName, RULES } from '../../sections/rules/grammar.ts';
import type { Report } from '../../sections/view.ts';

/** Findings without a rule name cannot be switched. */
export function switchedReport(rules: RulesSection | undefined, report: Report): Report {
  return (path, finding) => {
    const { rule } = finding;
    if (!isRuleName(rule)) return report(path, finding);
    const chosen = rules?.[rule];
    if (chosen === 'off') return;
    report(path, { ...finding, severity: chosen ?? finding.severity ?? RULES[rule].severity });
  };
}
