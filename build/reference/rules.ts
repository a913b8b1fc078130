// The page of rules of `sundial check` that a policy file can switch.
import { RULES } from '../../gateway/sections/rules/grammar.ts';
import { code, type Page, pageOf, tableOf } from './markdown.ts';

export function rulePages(): readonly Page[] {
  const rows = Object.entries(RULES).map(([name, { severity, asks }]) => [code(name), severity, asks]);
  return [
    pageOf(
      'rules.md',
      'Rules of check',
      [
        'Find each rule of `sundial check`, its severity, and what it asks for.',
        '',
        'A finding ends with the name of its rule in brackets. `rules: { notice-period: error, migration-guide: off }` in a policy file',
        'changes severities. `check --strict` treats warnings as errors. No rule depends on the current day, so a correct file stays',
        'correct while its dates pass.',
      ],
      [tableOf(['rule', 'severity', 'asks that'], rows)],
    ),
  ];
}
