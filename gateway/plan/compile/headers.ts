// The `headers` of a policy file as they are applied: names in lower case, undefined where nothing is changed.
// Part of compiling an API.
import type { HeaderEdits, HeaderRules } from '../connection-rules.ts';
import type { PolicyFile } from '../grammar/policy-grammar.ts';

type Section = NonNullable<PolicyFile['headers']>;

export function compileHeaders(section: Section | undefined): HeaderRules | undefined {
  return section && { request: editsOf(section.request), response: editsOf(section.response) };
}

function editsOf({ set = {}, remove = [] }: NonNullable<Section['request']> = {}): HeaderEdits {
  const lower = Object.entries(set).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { set: Object.fromEntries(lower), remove };
}
