// The diff of `rules`: the severity of each rule.
import { wordFact } from '../facts.ts';
import type { Words } from '../section.ts';
import { RULES } from './grammar.ts';

export const rulesWords: Words = {
  ofApi: {
    rules: ({ rules }) =>
      Object.entries(RULES).flatMap(([name, { severity }]) =>
        wordFact(`rule ${name}`, rules?.[name as keyof typeof RULES] ?? severity),
      ),
  },
  defaults: { ofApi: { audience: 'public' } },
};
