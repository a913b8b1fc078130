// The table of rules for `rules`, and the grammar of `rules` and `audience`.
import { z } from 'zod';

export type RuleSeverity = 'error' | 'warning';

interface RuleRow {
  /** The default. */
  readonly severity: RuleSeverity;
  /** For editors. */
  readonly asks: string;
}

export const RULES = {
  'notice-period': {
    severity: 'warning',
    asks: 'From the announcement to the sunset at least 12 months pass, 6 for an internal audience.',
  },
  'sunset-only-later': { severity: 'error', asks: 'An extension moves the sunset to a later date.' },
  'extension-length': { severity: 'warning', asks: 'An extension moves the sunset by 3 to 6 months.' },
  'extension-announcement': {
    severity: 'warning',
    asks: 'An extension is announced at least 3 months before the sunset it moves.',
  },
  'parallel-versions': {
    severity: 'warning',
    asks: 'Another version is served for as long as this one is deprecated.',
  },
  'successor-exists': { severity: 'error', asks: 'The successor is another version of this API.' },
  'successor-circle': { severity: 'error', asks: 'Successors do not lead back to where they came from.' },
  'successor-released': {
    severity: 'warning',
    asks: 'The successor is released by the deprecation, and where a redirect leads by the time it begins.',
  },
  'successor-outlives': {
    severity: 'error',
    asks: 'The successor is still served when the version ends, and for a notice period after that.',
  },
  'operation-successor': {
    severity: 'error',
    asks: 'The operation that another leads to is still served when that one ends.',
  },
  'default-served': {
    severity: 'warning',
    asks: 'Who names no version is served, and for as long as another version is.',
  },
  'migration-guide': { severity: 'warning', asks: 'Each deprecated version has a migration guide.' },
  'brownout-windows': {
    severity: 'error',
    asks: 'Brownouts have windows, between deprecation and sunset, none overlapping another.',
  },
  'brownout-announcement': {
    severity: 'error',
    asks: 'A brownout is announced at least 14 days before its first window.',
  },
  'taken-over': {
    severity: 'warning',
    asks: 'Dates and brownouts of the API as a whole hold for one of its versions at least.',
  },
  'body-notice': { severity: 'warning', asks: 'What has body_notice is deprecated on some day.' },
  'method-override': {
    severity: 'warning',
    asks: 'No header that is kept, and no _method in a form, lets a service take another method than the one judged.',
  },
  'nested-access': {
    severity: 'warning',
    asks: 'On one service, no version has its path inside that of another, and no API inside that of an API with other access.',
  },
  'path-overlap': {
    severity: 'warning',
    asks: 'No two operations differ only in what the service may ignore in a path.',
  },
  'encoded-slash': {
    severity: 'warning',
    asks: 'An API with operations is judged by both readings of %2F.',
  },
  'sunset-rewritten': { severity: 'error', asks: 'A sunset is not earlier than the one published before.' },
  'dates-rewritten': { severity: 'warning', asks: 'The dates of a published version stay as they were.' },
  'pins-rewritten': {
    severity: 'error',
    asks: 'No account is moved to another version by one that is put between published ones, or taken out.',
  },
  'version-removed': {
    severity: 'warning',
    asks: 'A version that was served stays declared once it has ended.',
  },
  'urls-moved': { severity: 'warning', asks: 'The URLs of a published API still lead to one.' },
  'description-agrees': {
    severity: 'warning',
    asks: 'The description that a version names and this file say the same of dates, guide, operations and successors.',
  },
  'description-dates': {
    severity: 'error',
    asks: 'Dates in a description are days of the calendar: introduced, then deprecation, then sunset.',
  },
  'description-headers': {
    severity: 'warning',
    asks: 'Where a description documents Deprecation and Sunset, their schemas are those of the text that is sent.',
  },
  'description-status': {
    severity: 'error',
    asks: 'In a description an operation with the status deprecated is marked deprecated: true, and no other.',
  },
  'description-undated': {
    severity: 'warning',
    asks: 'What a description calls deprecated has a date, there or in this file.',
  },
  'description-usable': {
    severity: 'warning',
    asks: 'What a description says of the lifecycle can be used: replacements lead somewhere, the guide is a URL.',
  },
} as const satisfies Readonly<Record<string, RuleRow>>;

export type RuleName = keyof typeof RULES;

export function isRuleName(name: string): name is RuleName {
  return Object.hasOwn(RULES, name);
}

const severity = z.enum(['error', 'warning', 'off']);

const described = Object.entries(RULES).map(([name, { asks, severity: usual }]) => [
  name,
  severity.meta({ description: `${asks} Default ${usual}.` }).optional(),
]);

/** The type of `fromEntries` does not keep the keys of the table. */
const shape = Object.fromEntries(described) as Record<RuleName, z.ZodOptional<typeof severity>>;

export const rulesSection = z
  .strictObject(shape)
  .meta({ description: 'Severity of single rules: error, warning or off.' });

export type RulesSection = z.output<typeof rulesSection>;

export const audienceSection = z.enum(['public', 'internal']).meta({
  description: 'Who calls: a public API gives 12 months of notice, an internal one 6; default public.',
});
