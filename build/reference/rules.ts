// The page of rules of `sundial check` that a policy file can switch.
import { describeRule, RULES, type RuleRow } from '../../gateway/sections/rules/grammar.ts';
import { code, type Page, pageOf, tableOf } from './markdown.ts';

export function rulePages(): readonly Page[] {
  const rows = Object.entries<RuleRow>(RULES).map(([name, row]) => [
    code(name),
    row.severity,
    describeRule(row),
  ]);
  return [
    pageOf(
      'rules.md',
      'Rules of check',
      [
        'Find each rule of `sundial check`, its default severity, and what it asks for.',
        '',
        'A finding ends with the name of its rule in brackets. `rules: { notice-period: error, migration-guide: off }` in a policy file',
        'changes severities. `check --strict` treats warnings as errors.',
        '',
        'Only `default-served`, `description-agrees` and the rules that compare with published files use the current day. The findings',
        'of all other rules stay the same while dates pass.',
      ],
      [tableOf(['rule', 'severity', 'asks that'], rows)],
    ),
  ];
}
