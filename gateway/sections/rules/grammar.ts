// The table of rules for `rules`, and the grammar of `rules` and `audience`.
import { z } from 'zod';
import { GLOSSARY } from '../../policy/glossary.ts';

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
    asks: 'At least 12 months lie between announcement and sunset, 6 for an internal audience.',
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
  'successor-circle': { severity: 'error', asks: 'Successors do not form a circle.' },
  'successor-released': {
    severity: 'warning',
    asks: 'The successor is released before the deprecation, and a redirect target before the redirect begins.',
  },
  'successor-outlives': {
    severity: 'error',
    asks: 'The successor is still served when the version ends, and for a notice period after that.',
  },
  'operation-successor': {
    severity: 'error',
    asks: 'The successor of an operation is still served when the operation ends.',
  },
  'default-served': {
    severity: 'warning',
    asks: 'A request without a version is served as long as any version is served.',
  },
  'migration-guide': { severity: 'warning', asks: 'Each deprecated version has a migration guide.' },
  'brownout-windows': {
    severity: 'error',
    asks: 'Brownouts have windows between deprecation and sunset that do not overlap.',
  },
  'brownout-announcement': {
    severity: 'error',
    asks: 'A brownout is announced at least 14 days before its first window.',
  },
  'taken-over': {
    severity: 'warning',
    asks: 'At least one version inherits the dates and brownouts of the API.',
  },
  'body-notice': {
    severity: 'warning',
    asks: 'A version or operation with body_notice has a deprecation date.',
  },
  'method-override': {
    severity: 'warning',
    asks: 'No kept header and no _method in a form lets a service use another method than the checked one.',
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
    asks: 'An API with operations applies the rules of both readings of %2F.',
  },
  'sunset-rewritten': { severity: 'error', asks: 'A sunset is not earlier than the one published before.' },
  'dates-rewritten': { severity: 'warning', asks: 'The dates of a published version do not change.' },
  'pins-rewritten': {
    severity: 'error',
    asks: 'Adding or removing a version between published ones moves no account.',
  },
  'version-removed': {
    severity: 'warning',
    asks: 'A version that was served stays declared after it has ended.',
  },
  'urls-moved': { severity: 'warning', asks: 'The URLs of a published API still belong to an API.' },
  'description-agrees': {
    severity: 'warning',
    asks: 'The OpenAPI description of a version and this file agree on dates, guide, operations and successors.',
  },
  'description-dates': {
    severity: 'error',
    asks: 'Dates in a description are calendar days in order: introduced, deprecation, sunset.',
  },
  'description-headers': {
    severity: 'warning',
    asks: 'If a description documents Deprecation and Sunset, their schemas match the values that are sent.',
  },
  'description-status': {
    severity: 'error',
    asks: 'In a description exactly the operations with the status deprecated are marked deprecated: true.',
  },
  'description-undated': {
    severity: 'warning',
    asks: 'Everything that a description marks as deprecated has a date, there or in this file.',
  },
  'description-usable': {
    severity: 'warning',
    asks: 'The lifecycle data of a description is usable: replacements exist, and the guide is a URL.',
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
  description: `${GLOSSARY.audience} Default public.`,
});
