// Every rule that a policy file can switch: its name, its severity unless switched, and what it asks for.
// A new rule is a row here and a function in check.ts; the grammar, the editor schema and the text form follow.

export type RuleSeverity = 'error' | 'warning';

interface RuleRow {
  readonly severity: RuleSeverity;
  /** What it asks for, as an editor shows it. */
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
  'successor-released': {
    severity: 'warning',
    asks: 'The successor is released by the deprecation, and where a redirect leads by the time it begins.',
  },
  'successor-outlives': {
    severity: 'error',
    asks: 'The successor is still served when the version ends, and for a notice period after that.',
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
  'sunset-rewritten': { severity: 'error', asks: 'A sunset is not earlier than the one published before.' },
  'dates-rewritten': { severity: 'warning', asks: 'The dates of a published version stay as they were.' },
  'version-removed': {
    severity: 'warning',
    asks: 'A version that was served stays declared once it has ended.',
  },
} as const satisfies Readonly<Record<string, RuleRow>>;

export type RuleName = keyof typeof RULES;

export function isRuleName(name: string): name is RuleName {
  return Object.hasOwn(RULES, name);
}
