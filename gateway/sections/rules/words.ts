// The diff of `rules`: the severity of each rule. A default that differs between findings is shown as both.
import { wordFact } from '../facts.ts';
import type { Words } from '../section.ts';
import { RULES, type RuleName, type RuleRow } from './grammar.ts';

export const rulesWords: Words = {
  ofApi: {
    rules: ({ rules }) =>
      Object.entries<RuleRow>(RULES).flatMap(([name, { severity, exception }]) =>
        wordFact(
          `rule ${name}`,
          rules?.[name as RuleName] ??
            (exception === undefined ? severity : `${severity} or ${exception.severity}`),
        ),
      ),
  },
  defaults: { ofApi: { audience: 'public' } },
};
