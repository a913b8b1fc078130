// The table of rules for `rules`, and the grammar of `rules` and `audience`.
import { z } from 'zod';
import { GLOSSARY } from '../../policy/glossary.ts';
import { MAX_WINDOWS } from '../../policy/lifecycle/brownout-windows.ts';

export type RuleSeverity = 'error' | 'warning';

export interface RuleRow {
  /** The default. */
  readonly severity: RuleSeverity;
  readonly asks: string;
  /** The findings with another default severity. */
  readonly exception?: { readonly severity: RuleSeverity; readonly when: string };
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
    asks: 'A version without a successor is deprecated only while another version is served.',
  },
  'successor-exists': { severity: 'error', asks: 'The successor is another version of this API.' },
  'successor-circle': { severity: 'error', asks: 'Successors do not form a cycle.' },
  'successor-released': {
    severity: 'warning',
    asks: 'The successor is already released when the version becomes deprecated, and a redirect target when the version ends.',
    exception: { severity: 'error', when: 'the redirect target is released later' },
  },
  'successor-outlives': {
    severity: 'warning',
    asks: 'The successor is still served when the version ends, and for a notice period after that.',
    exception: { severity: 'error', when: 'a redirect leads to a version that has ended by then' },
  },
  'operation-successor': {
    severity: 'warning',
    asks: 'The successor of an operation is still served when the operation ends.',
    exception: { severity: 'error', when: 'the operation redirects to its successor' },
  },
  'default-served': {
    severity: 'warning',
    asks: 'A request without a version is served as long as any version is served.',
  },
  'migration-guide': {
    severity: 'warning',
    asks: 'Each version or operation with a deprecation date has a migration guide.',
  },
  'brownout-windows': {
    severity: 'error',
    asks: `Windows of brownouts lie between deprecation and sunset and do not overlap. A list has at most ${MAX_WINDOWS}.`,
  },
  'brownout-announcement': {
    severity: 'error',
    asks: 'A brownout is announced at least 14 days before its first window.',
  },
  'taken-over': {
    severity: 'warning',
    asks: 'At least one version inherits each date of the API, and each of `exceptions`, `brownouts`, `freeze`, `retire_when` and `maintenance`.',
  },
  'body-notice': {
    severity: 'warning',
    asks: 'A version or operation with `body_notice` has a deprecation date. One operation with a date is enough for a version.',
  },
  'method-override': {
    severity: 'warning',
    asks: 'A service cannot replace the checked method by a forwarded header or by the form field `_method`.',
  },
  'nested-access': {
    severity: 'warning',
    asks: 'On one target, no version has its path inside the path of another. APIs with different `access` are not nested either.',
  },
  'path-overlap': {
    severity: 'warning',
    asks: 'No two operations differ only in parts of the path that the service may ignore, such as case.',
  },
  'encoded-slash': {
    severity: 'warning',
    asks: 'An API with operations does not set `encoded_slash: keep`, because the service may decode %2F.',
  },
  'sunset-rewritten': { severity: 'error', asks: 'A sunset is not earlier than the published one.' },
  'dates-rewritten': {
    severity: 'warning',
    asks: 'The dates of a published version do not change.',
    exception: { severity: 'error', when: '`released` changes and accounts are pinned' },
  },
  'pins-rewritten': {
    severity: 'error',
    asks: 'Adding or removing a version moves no account to another version.',
    exception: { severity: 'warning', when: 'the new version is newer than all published ones' },
  },
  'version-removed': {
    severity: 'warning',
    asks: 'A published version stays declared after its sunset, until `forgotten`. An API that gets versions has a default.',
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
    asks: 'An operation of a description with a status has `deprecated: true` if and only if the status is `deprecated`.',
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

/** What the rule asks for, and which findings have another default severity. */
export function describeRule({ asks, exception }: RuleRow): string {
  if (exception === undefined) return asks;
  return `${asks} ${exception.severity === 'error' ? 'An error' : 'A warning'} if ${exception.when}.`;
}

export function isRuleName(name: string): name is RuleName {
  return Object.hasOwn(RULES, name);
}

const severity = z.enum(['error', 'warning', 'off']);

const described = Object.entries<RuleRow>(RULES).map(([name, row]) => [
  name,
  severity.meta({ description: `${describeRule(row)} Default ${row.severity}.` }).optional(),
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
