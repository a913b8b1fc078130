// The `rules` and `audience` keys of a policy file: how strictly, and for whom, its dates are judged.
import { z } from 'zod';
import { RULES, type RuleName } from './names.ts';

const severity = z.enum(['error', 'warning', 'off']);

const described = Object.entries(RULES).map(([name, { asks, severity: usual }]) => [
  name,
  severity.meta({ description: `${asks} Default ${usual}.` }).optional(),
]);

/** The compiler cannot see through `fromEntries` that the keys are those of the table. */
const shape = Object.fromEntries(described) as Record<RuleName, z.ZodOptional<typeof severity>>;

export const rulesSection = z
  .strictObject(shape)
  .meta({ description: 'Severity of single rules: error, warning or off.' });

export type RulesSection = z.output<typeof rulesSection>;

export const audienceSection = z.enum(['public', 'internal']).meta({
  description: 'Who calls: a public API gives 12 months of notice, an internal one 6; default public.',
});
