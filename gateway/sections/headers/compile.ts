// Compiles `headers` and `max_body`.
import type { ApiPlan, VersionRules } from '../../plan/plan.ts';
import type { HeaderEdits, KeptFields } from '../../policy/headers/rules.ts';
import type { PolicyFile } from '../policy-file.ts';
import type { OperationInput, VersionInput } from '../section.ts';

type Section = NonNullable<PolicyFile['headers']>;

export function compileHeaders({ headers }: PolicyFile): Pick<ApiPlan, 'headers'> {
  if (headers === undefined) return { headers };
  const { request, response } = headers;
  return { headers: { request: editsOf(request), response: editsOf(response), kept: keptOf(request) } };
}

/** The check has already refused `keep` without `from`. */
function keptOf({ keep, from }: NonNullable<Section['request']> = {}): KeptFields | undefined {
  return keep && from && { names: keep, from };
}

function editsOf({ set = {}, remove = [] }: NonNullable<Section['response']> = {}): HeaderEdits {
  const lower = Object.entries(set).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { set: Object.fromEntries(lower), remove };
}

type MaxBody = Pick<VersionRules, 'maxBody'>;

export function maxBodyOfVersion({ file, settings, version }: VersionInput): MaxBody {
  return { maxBody: version.max_body ?? file.max_body ?? settings.bounds.body };
}

export function maxBodyOfOperation({ operation, rules }: OperationInput): MaxBody {
  return { maxBody: operation.max_body ?? rules.maxBody };
}
