// The `headers` of a policy file as they are applied: names in lower case, undefined where nothing is changed.
// Part of compiling an API.
import type { HeaderEdits, HeaderRules, KeptFields } from '../connection-rules.ts';
import type { PolicyFile } from '../grammar/policy-grammar.ts';

type Section = NonNullable<PolicyFile['headers']>;

export function compileHeaders(section: Section | undefined): HeaderRules | undefined {
  if (section === undefined) return undefined;
  const { request, response } = section;
  return { request: editsOf(request), response: editsOf(response), kept: keptOf(request) };
}

/** Without `from` the check of the file has refused it. */
function keptOf({ keep, from }: NonNullable<Section['request']> = {}): KeptFields | undefined {
  return keep && from && { names: keep, from };
}

function editsOf({ set = {}, remove = [] }: NonNullable<Section['response']> = {}): HeaderEdits {
  const lower = Object.entries(set).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { set: Object.fromEntries(lower), remove };
}
